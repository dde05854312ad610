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
const SOURCES = ['Sources and queues']
const WALK_TO_REREAD: Walk = {
  steps: [...SOURCES, { fill: ['since', '2026-02-05T00:00'] }, 'Read again'],
  shows: /The next batch reprocesses these events\./,
}
/** By what the question begins with. */
const WALKS: [question: string, walk: Walk][] = [
  ['What happened to this loan', { steps: [{ search: 'L-1001' }], shows: /LOAN_DISBURSE/ }],
  ['Is the ledger paused', { steps: [], shows: /Writes are enabled|Operations wait for/ }],
  ['What is stuck', { steps: [OVERVIEW_UNKNOWN], shows: /waits for outcome unknown/ }],
  ['What was tried', { steps: [{ search: 'UTR-L-1001' }], shows: /Attempts at the ledger/ }],
  ['Which errors are most frequent', { steps: ['Failed today'], shows: /Why they failed/ }],
  ['What failed today', { steps: ['Failed today'], shows: /LOAN_APPROVE/ }],
  ['Which outcomes are unknown', { steps: [OVERVIEW_UNKNOWN], shows: /CLIENT_CREATE/ }],
  ['Is the queue moving', { steps: SOURCES, shows: /Queues.*operation/s }],
  ['Which jobs failed', { steps: SOURCES, shows: /Jobs that were given up/ }],
  ['How do I requeue', { steps: SOURCES, shows: /Jobs that were given up/ }],
  ['How do I reprocess', WALK_TO_REREAD],
  ['What is in suspense', { steps: ['Payments'], shows: /In suspense.*no loan named/s }],
  [
    'What has been in suspense longest',
    { steps: ['Payments', 'Longest in suspense'], shows: /pay_nobody/ },
  ],
  ['What happened to this payment', { steps: [{ search: 'pay_posted' }], shows: /Events/ }],
  ['Which repayment has', { steps: [OVERVIEW_UNKNOWN], shows: /Operations/ }],
  [
    'What is on its way',
    {
      steps: ['Payments', { choose: ['state', 'waiting'] }, 'Filter'],
      shows: /pay_waiting/,
    },
  ],
  ['Which event types', { steps: SOURCES, shows: /Types of events/ }],
  ['Which raw tables', { steps: SOURCES, shows: /Sources.*Problem/s }],
  ['Does the batch keep up', { steps: SOURCES, shows: /Events behind/ }],
  ['How did the last batches', { steps: ['/console/batches'], shows: /Events read/ }],
  ['Up to when have payments', { steps: SOURCES, shows: /Gateways/ }],
  ['Which fetches failed', { steps: ['/console/backfills'], shows: /Fetches from gateways/ }],
  [
    'Which payments wait for their gateway',
    {
      steps: ['Payments', { choose: ['state', 'waiting'] }, 'Filter'],
      shows: /pay_waiting\s+waiting: gateway/,
    },
  ],
  [
    'What did its gateway not confirm',
    {
      steps: ['not at gateway', 'pay_denied'],
      shows: /The gateway has no such payment/,
    },
  ],
  ['What waits for a second person', { steps: ['Approvals'], shows: /Approvals/ }],
  ['Which reports of gateways', { steps: ['Books', 'Uploaded reports'], shows: /Uploaded/ }],
  ['What does the gateway say', { steps: [{ search: 'pay_posted' }], shows: /Payment pay_posted/ }],
  ['Does the ledger still hold', { steps: ['/console/readbacks'], shows: /Read-backs/ }],
  ['Where is the money', { steps: ['Books'], shows: /2: INR / }],
  ['Which days do not balance', { steps: ['Books'], shows: /not balanced/ }],
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
  ['How far is the migration', { steps: ['Portfolio'], shows: /loans,.*completed/s }],
  ['Was this file uploaded', { steps: ['Portfolio'], shows: /SHA-256.*loans\.csv/s }],
  ['Which of its rows failed', { steps: ['Portfolio', 'loans.csv'], shows: /failed\s+L-1001/ }],
  ['Which callbacks has', { steps: ['pending'], shows: /operation\.succeeded.*pending/s }],
  [
    'How did the LOS respond',
    { steps: ['Callbacks', 'operation.succeeded'], shows: /Attempts.*200/s },
  ],
  ['Who did what', { steps: ['Audit'], shows: /account\.login/ }],
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
      `“${question}” is answered in ${/\d$/.test(clicks) ? `${clicks} clicks` : clicks}`,
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

/** From now on, only an operator's decision has it looked up again. */
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
