import { sql } from 'kysely'
import { Registry } from 'prom-client'
import t, { type Test } from 'tap'
import { confirmFeature } from '../../src/books/confirm/confirm-feature.ts'
import { callbacksFeature } from '../../src/callbacks/callbacks-feature.ts'
import type { Database } from '../../src/database/database.ts'
import { newId } from '../../src/ids.ts'
import { measure } from '../../src/ops/measured.ts'
import { paymentGauges } from '../../src/payments/payment-signals.ts'
import { REASONS } from '../../src/payments/suspense-reasons.ts'
import { lendersFile } from '../support/config/lenders-file.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'
import { firing, lasting, minutesOf, QUIET_MINUTES, rules, scraped } from '../support/ops/alerts.ts'
import { capturedA } from '../support/payments/gateway-events.ts'
import { paymentService } from '../support/payments/payments.ts'
import { until } from '../support/until.ts'

type Gauges = { gauges: ReturnType<typeof measure>[] }
/** What is exported in a minute, counted from the beginning of the trouble. */
type Trouble = (minute: number) => string

const always =
  (lines: string): Trouble =>
  () =>
    lines
const since =
  (before: string, after: string): Trouble =>
  minute =>
    minute < 0 ? before : after
/** A counter that grows by so many each minute. */
const growing =
  (series: string, perMinute: number): Trouble =>
  minute =>
    `${series} ${Math.max(0, minute + 1) * perMinute}`
const bySeconds =
  (name: string, labels: string): Trouble =>
  minute => {
    const count = Math.max(0, minute + 1)
    return `${name}_bucket{le="1",${labels}} 0\n${name}_bucket{le="5",${labels}} ${count}\n${name}_bucket{le="+Inf",${labels}} ${count}`
  }

const OLD = 'loanops_operations_oldest_seconds'
const INTAKE = 'method="POST",route="/api/ledger/operate"'
const TROUBLES: Record<string, Trouble> = {
  LoanopsNoMetrics: always('loanops_process{role="api"} 1'),
  LoanopsNoApi: always('loanops_process{role="worker"} 1'),
  LoanopsProcessDown: since('loanops_process{role="worker"} 1', ''),
  LoanopsNotReady: always('loanops_ready{role="worker"} 0'),
  LoanopsProcessNotReady: always('loanops_ready{role="worker"} 0'),
  LoanopsClockDiffers: always('loanops_clock_difference_seconds -5.5'),
  LoanopsLedgerDown: always('loanops_ledger_breaker_open 1'),
  LoanopsUnanswered: always('loanops_unanswered_seconds{of="ledger"} 21'),
  LoanopsLedgerLeftPaused: always('loanops_ledger_paused 1'),
  LoanopsLedgerCredentials: always(
    'loanops_operations_unfinished{waiting_for="ledger_credentials"} 1',
  ),
  LoanopsLedgerSetUp: always('loanops_ledger_findings{check="product",state="breaks"} 1'),
  LoanopsWebhooksUnproven: always('loanops_webhooks_unproven{gateway="gateway_b"} 1'),
  LoanopsLedgerIgnoresCase: always('loanops_ledger_ignores_case 1'),
  LoanopsOutcomeUnknown: always(`${OLD}{lane="bulk",waiting_for="outcome_unknown"} 901`),
  LoanopsLiveOperationsStuck: always(`${OLD}{lane="live",waiting_for="nothing"} 901`),
  LoanopsAwaitingApproval: always(`${OLD}{lane="live",waiting_for="ledger_approval"} 86401`),
  LoanopsClaimsLost: growing('loanops_claims_lost_total', 3),
  LoanopsQueueBacklog: always('loanops_queue_jobs{queue="operation-live",state="ready"} 5001'),
  LoanopsEventsNotSaved: always('loanops_queue_jobs{queue="payment-event-dead",state="ready"} 1'),
  LoanopsIntakeFails: growing(`loanops_http_request_seconds_count{${INTAKE},status="503"}`, 10),
  LoanopsIntakeSlow: bySeconds('loanops_http_request_seconds', `${INTAKE},status="202"`),
  LoanopsCommitsSlow: bySeconds('loanops_commit_wait_seconds', 'of="intake"'),
  LoanopsPoolExhausted: always('loanops_pool_connections{pool="db",state="waiting"} 1'),
  LoanopsLedgerSlotsShort: always('loanops_ledger_slots{lane="live",state="waiting"} 21'),
  LoanopsFiguresMissing: always('loanops_process{role="worker"} 1'),
  LoanopsPaymentsLate: always('loanops_payment_lag_seconds 5401'),
  LoanopsPaymentEventsWithoutRow: always('loanops_payment_events_without_row 1'),
  LoanopsPaymentsInSuspense: always('loanops_payments_in_suspense{reason="unreadable"} 1'),
  LoanopsGatewayUnanswered: always('loanops_payments_waiting_for_gateway{gateway="gateway_a"} 1'),
  LoanopsGatewayFetchFails: always(
    'loanops_gateway_fetch_failing{gateway="gateway_a",lender=""} 1',
  ),
  LoanopsGatewaySilent: always('loanops_gateway_silent{gateway="gateway_a",lender="LENDER_02"} 1'),
  LoanopsPaymentsWithObjection: always('loanops_payments_with_objection{objection="refund"} 1'),
  LoanopsSignaturesRefused: growing('loanops_signature_failures_total{gateway="gateway_a"}', 1),
  LoanopsCallsRefused: growing('loanops_refused_calls_total{reason="unauthorized"}', 3),
  LoanopsUnknownEventTypes: always('loanops_unknown_event_age_seconds{source="x"} 1800'),
  LoanopsRawTablesWithoutSource: always('loanops_raw_tables_without_source 1'),
  LoanopsReadbackLate: always('loanops_readback_age_seconds 180001'),
  LoanopsDaysUnbalanced: always('loanops_unbalanced_days 1'),
  LoanopsCallbacksFailed: always('loanops_callbacks_failed 1'),
  LoanopsCallbackReceiverDown: always('loanops_callback_receiver_down 1'),
  LoanopsCallbacksLate: always('loanops_callback_lag_seconds 3601'),
}

/** Reasons of every day, which lists and the console show. */
const ORDINARY = [
  'no_loan_named',
  'loan_unknown',
  'loan_not_active',
  'refund',
  'chargeback',
  'awaiting_review',
]
/** The reason of a posted payment. */
const NOT_IN_SUSPENSE = ['overpaid']

/** Until a counter has grown past its rule's limit. */
const GROWS_FOR_MINUTES = 15

t.test('each alert fires on figures that it is for, once they have lasted its time', async t => {
  t.same(Object.keys(TROUBLES).sort(), rules.map(({ alert }) => alert).sort())
  for (const { alert, for: held } of rules) {
    const fired = firedBy(TROUBLES[alert] as Trouble, GROWS_FOR_MINUTES + minutesOf(held))
    t.ok(fired.includes(alert), `${alert}: ${fired}`)
  }
})

t.test('an alert fires on every reason for suspense that is not an everyday one', async t => {
  for (const reason of REASONS.filter(one => !NOT_IN_SUSPENSE.includes(one))) {
    const fired = firedBy(always(`loanops_payments_in_suspense{reason="${reason}"} 1`), 60)
    t.equal(fired.includes('LoanopsPaymentsInSuspense'), !ORDINARY.includes(reason), reason)
  }
})

t.test('an alert fires where a lender of few events has each of them refused', async t => {
  const series = 'loanops_signature_failures_total{gateway="gateway_a",lender="LENDER_02"}'
  const oneInHalfAnHour: Trouble = minute => `${series} ${Math.max(0, Math.ceil(minute / 30))}`
  t.ok(firedBy(oneInHalfAnHour, 4 * 60).includes('LoanopsSignaturesRefused'))
})

t.test(
  'an alert fires where few calls come and most of them fail, not for one in a while',
  async t => {
    const series = (status: number) =>
      `loanops_http_request_seconds_count{${INTAKE},status="${status}"}`
    const fires = (failures: (minute: number) => number, answers = 0) =>
      firedBy(
        minute =>
          `${series(503)} ${minute < 0 ? 0 : failures(minute)}\n${series(202)} ${(minute + QUIET_MINUTES) * answers}`,
        60,
      ).includes('LoanopsIntakeFails')
    t.ok(
      fires(minute => minute),
      'one call a minute, which fails',
    )
    t.ok(
      fires(minute => Math.ceil(minute / 4)),
      'one in four minutes',
    )
    t.notOk(
      fires(() => 2),
      'two in all',
    )
    t.notOk(
      fires(minute => minute, 2),
      'one of three',
    )
  },
)

t.test('an alert fires for what only a person can settle, though one batch brought it', async t => {
  const file = lendersFile(t, { LENDER_03: { gateway_a: { allowedCidrs: ['10.9.0.0/16'] } } })
  const service = await paymentService(t, { LENDERS_FILE: file })
  await service.loan('L-1', { product: 3 })
  const registry = new Registry()
  const log = { warn: () => undefined }
  const gauges = measure(paymentGauges, 20)({ metrics: { registry }, patient: service.db, log })
  t.teardown(() => gauges.stop())
  const shown = (line: RegExp) =>
    until(async () => {
      const text = await registry.metrics()
      return line.test(text) && text
    }, String(line))
  const before = await shown(/loanops_payment_lag_seconds 0\n/)
  await service.webhook('gateway_a', capturedA({ loan: 'L-1' }), { lender: 'LENDER_03' })
  await service.webhook('gateway_a', { event: 'moon.risen' }, { lender: 'LENDER_04' })
  await service.batch()
  const text = await shown(/source="lender_04_gateway_a"\} 1\n/)
  t.match(text, /reason="sender_not_allowed"\} 1\n/)
  const fired = firedBy(since(before, text), 60)
  for (const alert of ['LoanopsPaymentsInSuspense', 'LoanopsUnknownEventTypes'])
    t.ok(fired.includes(alert), alert)
})

t.test('an operation behind an approval at the ledger does not count as stuck', async t => {
  const behind = `${OLD}{lane="live",waiting_for="predecessor"} 901`
  const approval = 'loanops_operations_unfinished{lane="live",waiting_for="ledger_approval"} 1'
  const calls = (text: string) => firedBy(always(text), 10).includes('LoanopsLiveOperationsStuck')
  t.notOk(calls(`${behind}\n${approval}`))
  t.ok(calls(behind), 'behind anything else')
  t.ok(calls(`${OLD}{lane="live",waiting_for="nothing"} 901\n${approval}`), 'another operation')
})

t.test('an alert waits for three batches before a gateway counts as not answering', async t => {
  const { db } = await freshDatabase(t)
  const series = 'loanops_payments_waiting_for_gateway{gateway="gateway_a"}'
  const before = await shownBy(t, db, confirmFeature, `${series} 0\n`)
  const fires = (minutes: number, wait = Number.POSITIVE_INFINITY) =>
    firedBy(minute => (minute >= 0 && minute < wait ? `${series} 1` : before), minutes).includes(
      'LoanopsGatewayUnanswered',
    )
  t.notOk(fires(60), 'two batches')
  t.notOk(fires(60, 1), 'an hour after it was confirmed')
  t.ok(fires(92), 'three batches')
})

t.test('no alert says that something lasts for hours where Prometheus has just begun', async t => {
  for (const alert of ['LoanopsLedgerLeftPaused', 'LoanopsGatewayUnanswered']) {
    const text = (TROUBLES[alert] as Trouble)(0)
    t.notOk(firing(lasting([{ instance: '1', text }], 30)).includes(alert), alert)
    t.ok(firing(lasting([{ instance: '1', text }], 130)).includes(alert), `${alert}, two hours on`)
  }
})

t.test('no alert fires for callbacks that nobody sends, because CALLBACK_URL is unset', async t => {
  const { db } = await freshDatabase(t)
  const receives = (types: string[]) =>
    sql`update loanops.callback_receiver set types = ${types}, failures = 5`.execute(db)
  await receives(['operation.failed'])
  await sql`
    insert into loanops.callback (type, subject, about, occurred_at, created_at)
    values ('operation.failed', 'loan:L-1', ${newId()}, now() - interval '2 hours', now() - interval '2 hours')`.execute(
    db,
  )
  const fired = (text: string) => firedBy(always(text), 60).filter(one => /Callback/.test(one))
  t.same(fired(await shownBy(t, db, callbacksFeature, 'loanops_callbacks_pending 1\n')), [
    'LoanopsCallbackReceiverDown',
    'LoanopsCallbacksLate',
  ])
  await receives([])
  t.same(fired(await shownBy(t, db, callbacksFeature, 'loanops_callbacks_pending 0\n')), [])
})

t.test('a receiver of which nothing is known any more does not count as down', async t => {
  const { db } = await freshDatabase(t)
  await sql`
    update loanops.callback_receiver set types = '{operation.failed}', failures = 50`.execute(db)
  // Its retries, over days, are used up: nothing is left that would show that the receiver is back.
  await sql`
    insert into loanops.callback (type, subject, about, occurred_at, state)
    values ('operation.failed', 'loan:L-1', ${newId()}, now(), 'failed')`.execute(db)
  const shown = await shownBy(t, db, callbacksFeature, 'loanops_callbacks_failed 1\n')
  t.same(
    firedBy(always(shown), 60).filter(one => /Callback/.test(one)),
    ['LoanopsCallbacksFailed'],
  )
})

t.test('each process shows what is rare from 0, so that the first one is an increase', async t => {
  const service = await paymentService(t)
  const { body } = await service.call('GET', '/metrics')
  for (const labels of ['reversed', 'missing', 'differing'].map(one => `{finding="${one}"}`))
    t.match(body, `loanops_readback_found_total${labels} 0`)
  for (const gateway of ['gateway_a', 'gateway_b'])
    t.match(body, `loanops_missed_payments_total{gateway="${gateway}"} 0`)
  for (const outcome of ['booked', 'refused'])
    t.match(body, `loanops_reversals_total{outcome="${outcome}"} 0`)
  for (const lender of ['LENDER_01', 'UNKNOWN'])
    t.match(body, `loanops_signature_failures_total{gateway="gateway_a",lender="${lender}"} 0`)
})

/** What the gauges of a feature show of the database, once this is among it. */
function shownBy(t: Test, db: Database, { gauges }: Gauges, line: string): Promise<string> {
  const registry = new Registry()
  const log = { warn: () => undefined }
  const jobs = gauges.map(gauge => gauge({ metrics: { registry }, patient: db, log }))
  t.teardown(() => Promise.all(jobs.map(job => job.stop())))
  return until(async () => {
    const text = await registry.metrics()
    return text.includes(line) && text
  }, line)
}

function firedBy(trouble: Trouble, minutes: number): string[] {
  const history = Array.from({ length: QUIET_MINUTES + minutes + 1 }, (_, i) => i - QUIET_MINUTES)
  return firing(history.map(minute => scraped([{ instance: '1', text: trouble(minute) }])))
}
