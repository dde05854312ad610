import { readFileSync } from 'node:fs'
import { sql } from 'kysely'
import type { Page } from 'puppeteer-core'
import t from 'tap'
import { OPERATOR } from '../support/accounts/admin.ts'
import { callbackReceiver } from '../support/callbacks/callback-receiver.ts'
import { openBrowser } from '../support/console/browser.ts'
import { type ConsoleService, startWithConsole } from '../support/console/console.ts'
import { addTroubles, fillConsole, MISSING } from '../support/console/console-data.ts'
import { withLedger } from '../support/payments/payments.ts'
import { until } from '../support/until.ts'

/** Clicks on a link or button by its name, the search, a chosen filter or a filled field; and what is then on the page. */
type Step = string | { search: string } | { choose: [string, string] } | { fill: [string, string] }
type Walk = { steps: Step[]; shows: RegExp }

const OVERVIEW_UNKNOWN = 'waits for outcome unknown'
const ROW_UNKNOWN = /^CLIENT_CREATE\tC-[89]\twaits for outcome unknown/m
const SOURCES = ['Sources and queues']
const WALK_TO_REREAD: Walk = {
  steps: [...SOURCES, { fill: ['since', '2026-02-05T00:00'] }, 'Read again'],
  shows: /the source has no event that can be read again/,
}
/** The walks by what the question begins with. */
const WALKS: [question: string, walk: Walk][] = [
  ['What happened to this loan', { steps: [{ search: 'L-1001' }], shows: /LOAN_DISBURSE/ }],
  ['Is the ledger paused', { steps: [], shows: /Writes are enabled|Operations wait for/ }],
  ['What is stuck', { steps: [OVERVIEW_UNKNOWN], shows: ROW_UNKNOWN }],
  ['What was tried', { steps: [{ search: 'UTR-L-1001' }], shows: /POST .*disburse\t200\tdone/ }],
  [
    'Which errors are most frequent',
    { steps: ['Failed today'], shows: /Why they failed\s+loanops\.loan_unknown\s+2/ },
  ],
  ['What failed today', { steps: ['Failed today'], shows: /^LOAN_APPROVE\tL-9\tfailed/m }],
  ['Which outcomes are unknown', { steps: [OVERVIEW_UNKNOWN], shows: ROW_UNKNOWN }],
  ['Is the queue moving', { steps: SOURCES, shows: /^operation\t\d/m }],
  ['Which jobs failed', { steps: SOURCES, shows: /^operation-purge\t.*disk full/m }],
  [
    'How do I requeue',
    { steps: [...SOURCES, 'Requeue'], shows: /The jobs are back in their queue\./ },
  ],
  ['How do I reprocess', WALK_TO_REREAD],
  ['What is in suspense', { steps: ['Payments'], shows: /In suspense.*no loan named/s }],
  [
    'What has been in suspense longest',
    { steps: ['Payments', 'Longest in suspense'], shows: /pay_nobody/ },
  ],
  [
    'What happened to this payment',
    { steps: [{ search: 'pay_posted' }], shows: /payment\.captured counts/ },
  ],
  ['Which repayment has', { steps: [OVERVIEW_UNKNOWN], shows: ROW_UNKNOWN }],
  [
    'What is on its way',
    { steps: ['Payments', { choose: ['state', 'waiting'] }, 'Filter'], shows: /pay_waiting/ },
  ],
  ['Which event types', { steps: SOURCES, shows: /\tpayment\.captured\tpayment\t\d/ }],
  ['Which raw tables', { steps: SOURCES, shows: /^by_hand\t.*its name is not/m }],
  [
    'Does the batch keep up',
    { steps: SOURCES, shows: /^lender_02_gateway_a\tLENDER_02\tgateway_a\t\d+\t\d+\t/m },
  ],
  [
    'How did the last batches',
    { steps: ['/console/batches'], shows: /\tcompleted\trequest\t1\t3\t/ },
  ],
  [
    'Up to when have payments',
    { steps: SOURCES, shows: /^gateway_a\tLENDER_02\t[^\t]*\t05 Feb 2026/m },
  ],
  ['Which fetches failed', { steps: ['/console/backfills'], shows: /\tfailed\t.*\tkey refused/ }],
  [
    'Which payments wait for their gateway',
    {
      steps: ['Payments', { choose: ['state', 'waiting'] }, 'Filter'],
      shows: /pay_waiting\s+waiting: gateway/,
    },
  ],
  [
    'What did its gateway not confirm',
    { steps: ['not at gateway', 'pay_denied'], shows: /The gateway has no such payment/ },
  ],
  [
    'What waits for a second person',
    { steps: ['Approvals'], shows: /^bulk\tpayments\.dismiss\t.*\tproposed\tasha\.rao/m },
  ],
  [
    'Which reports of gateways',
    { steps: ['Books', 'Uploaded reports'], shows: /^february\.csv\t.*\tasha\.rao/m },
  ],
  [
    'What does the gateway say',
    { steps: [{ search: 'pay_posted' }], shows: /The gateway says\s+captured, INR 4,584\.00/ },
  ],
  [
    'Does the ledger still hold',
    { steps: ['/console/readbacks'], shows: /\tcompleted\t31\t47\t0\t1\t/ },
  ],
  ['Where is the money', { steps: ['Books'], shows: /2: INR / }],
  ['Which days do not balance', { steps: ['Books'], shows: /\tnot balanced/ }],
  ['Which days were balanced', { steps: ['Books'], shows: /No longer balanced\s+2026-02-01/ }],
  [
    'Which payments of a day',
    { steps: ['Books', `1: INR ${MISSING.amount}`], shows: /pay_missing/ },
  ],
  [
    'What was in this settlement',
    { steps: [{ search: 'setl_1' }], shows: /Settlement setl_1.*Adds up/s },
  ],
  [
    'What did the ledger undo',
    {
      steps: ['Payments', { choose: ['reason', 'reversed_at_ledger'] }, 'Filter'],
      shows: /pay_undone/,
    },
  ],
  [
    'What was paid each day',
    { steps: ['Books'], shows: /20\d\d-\d\d-\d\d\s+LENDER_02\s+gateway a/ },
  ],
  ['How far is the migration', { steps: ['Portfolio'], shows: /^loans, .*\tcompleted\t1\t1/m }],
  ['Was this file uploaded', { steps: ['Portfolio'], shows: /^loans, .*\t[0-9a-f]{12}…/m }],
  ['Which of its rows failed', { steps: ['Portfolio', 'loans.csv'], shows: /failed\s+L-1001/ }],
  [
    'Which callbacks has',
    { steps: ['pending'], shows: /^operation\.succeeded\tclient:C-1001\tpending/m },
  ],
  [
    'How did the LOS respond',
    { steps: ['Callbacks', 'operation.succeeded'], shows: /^1\t.*\t200\t/m },
  ],
  ['Who did what', { steps: ['Audit'], shows: /\tasha\.rao\t\taccount\.login/ }],
]

t.test('the console answers an operator’s questions', async t => {
  const receiver = await callbackReceiver(t)
  receiver.respond((response, { body }) =>
    response.writeHead(body.data.external_id === 'C-1001' ? 500 : 200).end(),
  )
  const service = await startWithConsole(t, { ...receiver.settings, APPROVALS: 'bulk' })
  const { url } = service
  await fillConsole(url)
  await service.db.insertInto('core.statement').values(SETTLED).execute()
  await addTroubles(service)
  await leaveUnknown(service)
  await recordRuns(service)
  const browser = await openBrowser()
  t.teardown(() => browser.close())
  const page = await browser.newPage()
  await page.goto(`${url}/console`)
  await page.type('[name=username]', OPERATOR.username)
  await page.type('[name=password]', OPERATOR.password)
  await Promise.all([page.waitForNavigation(), page.click('main button')])
  const documented = table(readFileSync('docs/console.md', 'utf8'))

  t.test('console.md says of each question of operating.md where its answer is', async t => {
    const asked = table(readFileSync('docs/operating.md', 'utf8')).map(([question]) => question)
    t.ok(asked.length > 30)
    t.same(
      documented.map(([question]) => question),
      asked,
    )
    t.same(
      documented.filter(([, , clicks]) => !/^[0-3]$|^1 search$/.test(clicks ?? '')),
      [],
    )
  })

  for (const [question = '', , clicks = ''] of documented)
    t.test(
      `“${question}” is answered in ${clicks.replace(/^1$/, '1 click').replace(/\d$/, '$& clicks')}`,
      async t => {
        const [, walk] = WALKS.find(([start]) => question.startsWith(start)) ?? []
        if (walk === undefined) return t.fail('nobody has walked there')
        await page.goto(`${url}/console?refresh=off`)
        for (const step of walk.steps) await take(page, step)
        t.match(await page.evaluate('document.body.innerText'), walk.shows)
        const clicked = walk.steps.filter(step => typeof step === 'string' || !('fill' in step))
        t.ok(clicked.length <= Number.parseInt(clicks, 10))
      },
    )

  t.test('an operator brings a stuck operation to its end', async t => {
    await page.goto(`${url}/console/operations?external_id=${STUCK.resolved}`)
    await take(page, 'CLIENT_CREATE')
    t.match(
      await page.evaluate('document.body.innerText'),
      /It is looked up again automatically; you can also resolve it/,
    )
    await leaveToOperators(service, STUCK.resolved)
    await withLedger(service).faults([unreadable(STUCK.left)])
    await page.select('[name=outcome]', 'retry')
    await take(page, 'Resolve')
    t.match(await page.evaluate('document.body.innerText'), /Your decision is recorded/)
    await page.waitForFunction('document.querySelector(".facts").innerText.includes("success")')
    await page.reload()
    t.match(
      await page.evaluate('document.body.innerText'),
      new RegExp(`operation resolve by ${OPERATOR.username}`),
    )
  })
})

const SETTLED = {
  gateway: 'gateway_a',
  gateway_payment_id: 'pay_posted',
  lender: 'LENDER_02',
  amount: '4584.00',
  currency: 'INR',
  status: 'captured',
  captured_at: new Date('2026-02-05T10:00:00Z'),
  settlement_id: 'setl_1',
  source: 'api',
}

/** The clients that an operation is stuck on: one that a test brings to its end, and one that stays. */
const STUCK = { resolved: 'C-8', left: 'C-9' }

const unreadable = (externalId: string) =>
  ({ kind: 'error', status: 502, match: { on: 'reads', externalId } }) as const

/** Leaves the operation so that only an operator's decision has it looked up again. */
async function leaveToOperators({ db }: ConsoleService, externalId: string): Promise<void> {
  await until(async () => {
    const { rows } = await sql`
      update loanops.operation set next_try_at = now() + interval '1 hour'
       where external_id = ${externalId} and claimed_by is null
      returning id`.execute(db)
    return rows.length > 0
  })
}

/** Operations whose answers were lost, at a ledger that cannot read their clients. */
async function leaveUnknown(service: ConsoleService): Promise<void> {
  const stuck = Object.values(STUCK)
  await withLedger(service).faults([
    { kind: 'drop', match: { on: 'writes' }, times: stuck.length },
    ...stuck.map(unreadable),
  ])
  for (const externalId of stuck) {
    const data = {
      firstname: 'Asha',
      lastname: 'Rao',
      externalId,
      activationDate: '05 January 2026',
    }
    await service.call('POST', '/api/ledger/operate', { status: 'CLIENT_CREATE', data })
  }
  await until(async () => {
    const { text } = await service.operator('/console/operations?waiting_for=outcome_unknown')
    return text.includes(`${stuck.length} rows`)
  }, 'their outcomes are unknown')
}

/** One each of what a quiet day need not have, from a job that was given up to a proposal. */
async function recordRuns({ db }: ConsoleService): Promise<void> {
  await sql`
    insert into pgboss.job (name, data, state, output, completed_on)
    values ('payment-event-dead', '{"events":[]}', 'created', null, null), ('operation-purge', null, 'failed', '{"message":"disk full"}', now())`.execute(
    db,
  )
  await sql`create table raw.by_hand (like raw.template)`.execute(db)
  await sql`
    insert into core.backfill (id, trigger, gateway, account, lender, window_from, window_to, status, fetch_from, done_until, last_error)
    select raw.new_id(), 'schedule', 'gateway_a', '', 'LENDER_02', day, day, status, day, day, error
      from (values ('completed', '2026-02-05'::timestamptz, null), ('failed', '2026-02-06', 'key refused')) f (status, day, error)`.execute(
    db,
  )
  await sql`
    insert into core.readback_run (id, trigger, status, started_at, ended_at, loans, payments, missing)
    values (raw.new_id(), 'schedule', 'completed', now(), now(), 31, 47, 1)`.execute(db)
  await sql`
    insert into core.statement_file (id, gateway, lender, file_name, rows, valid_rows, uploaded_by)
    values (raw.new_id(), 'gateway_a', 'LENDER_02', 'february.csv', 9, 8, 'asha.rao')`.execute(db)
  await sql`
    insert into loanops.approval (id, call, act, subject, request, facts, fingerprint, proposed_by, expires_at)
    values (raw.new_id(), 'none', 'bulk', 'payments.dismiss', '{}', '{}', '', ${OPERATOR.username}, now() + interval '1 day')`.execute(
    db,
  )
}

/** The rows of the first table whose first column asks something. */
const table = (markdown: string) =>
  markdown
    .split('\n')
    .filter(line => /^\| [^|]*\? \|/.test(line))
    .map(line => line.split(' | ').map(cell => cell.replace(/^\| | \|$/g, '').trim()))

async function take(page: Page, step: Step): Promise<void> {
  if (typeof step !== 'string' && 'fill' in step) {
    const [name, value] = step.fill
    await page.evaluate(
      `document.querySelector('main [name=${name}]').value = ${JSON.stringify(value)}`,
    )
    return
  }
  if (typeof step !== 'string' && 'choose' in step) {
    const [name, value] = step.choose
    await page.select(`main [name=${name}]`, value)
    return
  }
  if (typeof step !== 'string') {
    await page.type('[name=q]', step.search)
    await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')])
    return
  }
  await page.evaluate(`(() => {
    const name = ${JSON.stringify(step)}
    const named = one => (one.getAttribute('aria-label') ?? one.innerText).trim().startsWith(name) || one.getAttribute('href') === name
    const found = [...document.querySelectorAll('main a, main button, nav a')].find(named)
    if (found === undefined) throw new Error('there is nothing named ' + name)
    found.setAttribute('data-next', '')
  })()`)
  await Promise.all([page.waitForNavigation(), page.click('[data-next]')])
}
