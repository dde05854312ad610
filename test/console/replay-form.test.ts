import { sql } from 'kysely'
import { parse } from 'node-html-parser'
import t from 'tap'
import { startWithConsole } from '../support/console/console.ts'

const { operator, db } = await startWithConsole(t, { LEDGER_TIMEZONE: 'Asia/Kolkata' })

t.test('the times of a replay are typed in the ledger’s zone and sent on in UTC', async t => {
  const { text } = await operator(
    '/console/callbacks/replay?from=2026-11-20T00:00&to=2026-11-20T09:45:30',
  )
  const form = parse(text).querySelector('form[action^="/console/callbacks/replay"]')
  const sent = (name: string) => form?.querySelector(`[name=${name}]`)?.getAttribute('value')
  t.equal(sent('from'), '2026-11-19T18:30:00.000Z')
  t.equal(sent('to'), '2026-11-20T04:15:30.999Z')
})

t.test('a replay that is not confirmed goes back to the times that were typed', async t => {
  const { text } = await operator(
    '/console/callbacks/replay?from=2026-11-20T00:00&to=2026-11-20T09:45:30&state=delivered',
  )
  const [back] = parse(text)
    .querySelectorAll('a')
    .filter(link => link.text === 'Go back')
  const list = parse((await operator(back?.getAttribute('href') ?? '')).text)
  const form = list.querySelector('form[action="/console/callbacks/replay"]')
  const typed = (name: string) => form?.querySelector(`[name=${name}]`)?.getAttribute('value')
  t.same([typed('from'), typed('to')], ['2026-11-20T00:00:00', '2026-11-20T09:45:30'])
  t.equal(form?.querySelector('[name=state] [selected]')?.text, 'delivered')
})

t.test('a page names the zone of its times', async t => {
  for (const path of ['/console', '/console/callbacks', '/console/search'])
    t.match((await operator(path)).text, 'Times are in Asia/Kolkata.', path)
})

t.test('the form for a replay begins with the times of the list’s filter', async t => {
  const { text } = await operator('/console/callbacks?from=2026-11-19T18:30:00Z')
  const field = parse(text).querySelector('form[action="/console/callbacks/replay"] [name=from]')
  t.equal(field?.getAttribute('value'), '2026-11-20T00:00:00')
  t.match(field?.closest('form')?.text, /In the ledger’s time zone/)
})

t.test('a replay between times that do not exist names the field', async t => {
  const { status, text } = await operator(
    '/console/callbacks/replay?from=2026-02-30T00:00&to=2026-03-02T00:00',
  )
  t.equal(status, 400)
  t.match(text, /must be a day and a time/)
})

t.test('the list’s filter shows its times as the list does', async t => {
  const { text } = await operator(
    '/console/callbacks?from=2026-11-19T18:30:00Z&to=2026-11-20T09:45',
  )
  const filter = parse(text).querySelector('form.filters')
  const shown = (name: string) => filter?.querySelector(`[name=${name}]`)?.getAttribute('value')
  t.same([shown('from'), shown('to')], ['2026-11-20 00:00:00', '2026-11-20 09:45:00'])
})

t.test('the list’s filter refuses a day alone with a time as the list shows it', async t => {
  const { status, text } = await operator('/console/callbacks?from=2026-11-20')
  t.equal(status, 400)
  t.match(text, 'must be a day and a time, such as 2026-11-20 15:45:30')
})

t.test('a refused filter shows what was typed, and leads back to the list', async t => {
  const list = '/console/callbacks?state=failed'
  const { status, text } = await operator(
    '/console/callbacks?state=failed&from=2026-11-21+09:00:00&to=2026-11-20+09:00:00',
    undefined,
    { referer: `http://127.0.0.1${list}` },
  )
  t.equal(status, 400)
  t.match(text, '<dt>from</dt><dd>2026-11-21 09:00:00</dd>')
  t.match(text, `<a href="${list}">Back</a>`)
})

t.test('a replay whose times are swapped is refused before it is counted', async t => {
  const { status, text } = await operator(
    '/console/callbacks/replay?from=2026-11-21T00:00&to=2026-11-20T00:00',
  )
  t.equal(status, 400)
  t.match(text, /<strong>from<.strong> must not be after to</)
})

t.test(
  'a replay and the list’s filter include what the list shows at their last second',
  async t => {
    await sql`
    insert into loanops.callback (type, subject, about, occurred_at, sequence, body, state, created_at)
    values ('payment.posted', 'loan:L-1', raw.new_id(), now(), 1, '{}', 'failed', '2026-03-05T10:00:00.6Z')`.execute(
      db,
    )
    const shownIn = async (path: string, time: RegExp) =>
      time.exec((await operator(path)).text)?.[0] ?? ''
    const inFile = await shownIn('/console/callbacks.csv', /2026-03-05 15:[\d:]+/)
    const inList = await shownIn('/console/callbacks', /05 Mar 2026, 15:[\d:]+/)
    const at = inFile.replace(' ', 'T')
    const { text } = await operator(`/console/callbacks/replay?from=${at}&to=${at}`)
    t.match(text, /Replay 1</)
    for (const one of [at, inFile, inList])
      t.match((await operator(`/console/callbacks?from=${one}&to=${one}`)).text, />1 row</, one)
  },
)
