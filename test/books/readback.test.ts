import { sql } from 'kysely'
import t from 'tap'
import { serviceWithPosted } from '../support/books/readback.ts'
import { matchEach } from '../support/match-each.ts'
import { disburse } from '../support/payments/payments.ts'
import { until } from '../support/until.ts'

// Each waits for a worker that looks every two seconds.
t.jobs = 4

const FOUND = { state: 'posted', reason: null, objection: null }

t.test('a payment whose repayment stands at the ledger stays posted, and is marked', async t => {
  const service = await serviceWithPosted(t, ['pay_1', 'pay_2'])
  t.match(await service.readBack(), { loans: 1, payments: 2, reversed: 0, missing: 0, failed: 0 })
  for (const id of ['pay_1', 'pay_2']) t.match(await service.stateOf(id), FOUND)
  const { rows } = await sql`
    select from core.transaction where read_back_at is null`.execute(service.db)
  t.equal(rows.length, 0)
})

t.test(
  'a repayment that was undone leaves its payment in suspense, and is posted again as -r2, then as -r3',
  async t => {
    const service = await serviceWithPosted(t, ['pay_1', 'pay_2'])
    await service.undo('gateway_a-pay_1')
    t.match(await service.readBack(), { payments: 2, reversed: 1, missing: 0, differing: 0 })
    const suspended = { state: 'suspense', reason: 'reversed_at_ledger', next_try_at: null }
    t.match(await service.stateOf('pay_1'), { ...suspended, ledger_transaction_id: null })
    t.match(await service.stateOf('pay_2'), FOUND)

    t.match(await service.batch(), { posted: 0 }, 'only an operator has it posted again')
    for (const suffix of ['-r2', '-r3']) {
      t.match(await service.assign('pay_1', 'L-1'), { status: 200 })
      await service.batch()
      t.match(await service.stateOf('pay_1'), FOUND)
      t.match(await service.readBack(), { reversed: 0, missing: 0, differing: 0 })
      await service.undo(`gateway_a-pay_1${suffix}`)
      t.match(await service.readBack(), { reversed: 1, missing: 0, differing: 0 })
      t.match(await service.stateOf('pay_1'), suspended)
    }
  },
)

t.test('an undone disbursement undoes every repayment of its loan', async t => {
  const service = await serviceWithPosted(t, ['pay_1', 'pay_2'])
  t.match(await service.undoDisbursal(), { status: 200 })
  t.match(await service.readBack(), { loans: 1, payments: 2, reversed: 2, missing: 0 })
  await disburse(service, 'L-1')
  await service.assign('pay_1', 'L-1')
  await service.batch()
  t.match(await service.stateOf('pay_1'), FOUND)
  t.match(
    (await service.repayments()).filter(one => !one.reversed).map(one => one.externalId),
    ['gateway_a-pay_1-r2'],
  )
})

t.test('a repayment that the ledger does not have is posted again under its own id', async t => {
  const service = await serviceWithPosted(t, ['pay_1'])
  await service.restore()
  t.match(await service.readBack(), { payments: 1, reversed: 0, missing: 1 })
  t.match(await service.stateOf('pay_1'), { state: 'suspense', reason: 'missing_at_ledger' })
  t.match(await service.assign('pay_1', 'L-1'), { status: 200 })
  await service.batch()
  t.match(await service.stateOf('pay_1'), FOUND)
  t.same(
    (await service.repayments()).map(one => one.externalId),
    ['gateway_a-pay_1'],
  )
})

t.test('of a loan that the ledger does not have, every repayment is missing', async t => {
  const service = await serviceWithPosted(t, ['pay_1', 'pay_2'])
  await fetch(`${service.ledger.controlUrl}/reset`, { method: 'POST' })
  t.match(await service.readBack(), { loans: 1, payments: 2, missing: 2 })
})

t.test('an adjusted repayment is an objection that says what is there instead', async t => {
  const service = await serviceWithPosted(t, ['pay_1'])
  // With a payment type, the ledger's own adjustment is refused, and without one it loses the receipt number.
  await service.undo('gateway_a-pay_1')
  await service.bookByHand('pay_1', 400)
  t.match(await service.readBack(), { payments: 1, reversed: 0, missing: 0, differing: 1 })
  t.match(await service.stateOf('pay_1'), {
    state: 'posted',
    objection: 'differs_at_ledger',
    detail: /was undone there on .*has its receipt number, amount is 400 there, not 1000$/,
  })
  t.match(await service.readBack(), { payments: 1, differing: 0 }, 'it is not news again')
})

t.test('an adjusted repayment is found although its receipt number is in capitals', async t => {
  const service = await serviceWithPosted(t, ['pay_1'])
  await service.undo('gateway_a-pay_1')
  await service.bookByHand('PAY_1', 900)
  await service.readBack()
  t.match(await service.stateOf('pay_1'), { state: 'posted', objection: 'differs_at_ledger' })
})

t.test('another gateway’s payment of the same id is no adjustment', async t => {
  const service = await serviceWithPosted(t, ['pay_1'])
  await service.undo('gateway_a-pay_1')
  await service.bookByHand('pay_1', 400, { externalId: 'gateway_b-pay_1' })
  t.match(await service.readBack(), { reversed: 1, differing: 0 })
})

t.test('another amount or day is an objection, which ends with the difference', async t => {
  const service = await serviceWithPosted(t, ['pay_1', 'pay_2'])
  const set = (amount: number, day: string | null) =>
    sql`update core.transaction
           set decided_amount = nullif(${amount}::numeric, 1000), decided_day = ${day}::date`.execute(
      service.db,
    )
  await set(999.5, '2026-02-04')
  t.match(await service.readBack(), { payments: 2, differing: 2 })
  t.match(await service.stateOf('pay_1'), {
    state: 'posted',
    objection: 'differs_at_ledger',
    detail: 'amount is 1000 there, not 999.5, date is 05 February 2026 there, not 04 February 2026',
  })
  await set(1_000, null)
  t.match(await service.readBack(), { payments: 2, differing: 0 })
  t.match(await service.stateOf('pay_1'), { ...FOUND, detail: null })
})

t.test('an objection that was cleared comes back for other facts only', async t => {
  const service = await serviceWithPosted(t, ['pay_1'])
  const differ = (amount: number) =>
    sql`update core.transaction set decided_amount = ${amount}`.execute(service.db)
  await differ(999)
  await service.readBack()
  await sql`
    update core.transaction set cleared_facts = array['differs_at_ledger ' || difference], objection = null`.execute(
    service.db,
  )
  t.match(await service.readBack(), { differing: 0 })
  t.match(await service.stateOf('pay_1'), FOUND)
  await differ(998)
  t.match(await service.readBack(), { differing: 1 })
  t.match(await service.stateOf('pay_1'), { objection: 'differs_at_ledger' })
})

t.test('a repayment that was booked by hand is found by its number', async t => {
  const service = await serviceWithPosted(t, [])
  const { body } = await service.bookByHand('pay_1')
  await service.send('pay_1')
  await service.batch()
  t.match(await service.stateOf('pay_1'), { ledger_transaction_id: String(body.resourceId) })
  t.match(await service.readBack(), { payments: 1, reversed: 0, missing: 0, differing: 0 })
  await service.ledgerCall('POST', `/loans/external-id/L-1/transactions/${body.resourceId}`, {
    transactionDate: '2026-02-05',
    transactionAmount: 0,
    dateFormat: 'yyyy-MM-dd',
    locale: 'en',
  })
  t.match(await service.readBack(), { payments: 1, reversed: 1 })
})

t.test('only what was posted within RECONCILE_DAYS is read back', async t => {
  const service = await serviceWithPosted(t, ['pay_1', 'pay_2'], { RECONCILE_DAYS: '2' })
  const age = (id: string, hours: number) =>
    sql`update core.transaction set posted_at = now() - make_interval(hours => ${hours})
         where gateway_payment_id = ${id}`.execute(service.db)
  await age('pay_1', 47)
  await age('pay_2', 49)
  t.match(await service.readBack(), { payments: 1 })
  const { rows } = await sql`
    select gateway_payment_id from core.transaction
     where read_back_at is not null`.execute(service.db)
  t.same(rows, [{ gateway_payment_id: 'pay_1' }])
})

t.test('a loan is read once, however many payments it has', async t => {
  const ids = Array.from({ length: 7 }, (_, i) => `pay_${i}`)
  const service = await serviceWithPosted(t, ids)
  const reads = async () => (await service.books()).counters.calls['GET loan']
  const before = (await reads()) ?? 0
  t.match(await service.readBack(), { loans: 1, payments: 7 })
  t.equal((await reads()) as number, before + 1)
})

t.test('an empty RECONCILE_CRON schedules nothing', async t => {
  const scheduled = async (changes: NodeJS.ProcessEnv) => {
    const { db } = await serviceWithPosted(t, [], changes)
    const { rows } = await sql<{ cron: string }>`
      select cron from pgboss.schedule where name = 'readback'`.execute(db)
    return rows.map(({ cron }) => cron)
  }
  matchEach(t, [await scheduled({}), await scheduled({ RECONCILE_CRON: '' })], [['15 3 * * *'], []])
})

t.test('payments without any requested read-back count as late since they were posted', async t => {
  const { call, db } = await serviceWithPosted(t, ['pay_1'], { RECONCILE_CRON: '' })
  await sql`update core.transaction set posted_at = now() - interval '3 days'`.execute(db)
  const isLate = async () => {
    const { body } = await call('GET', '/metrics')
    return Number(/^loanops_readback_age_seconds (\S+)$/m.exec(body)?.[1] ?? 0) > 180_000
  }
  t.ok(await until(isLate, 'the age exceeds the limit of LoanopsReadbackLate'))
})
