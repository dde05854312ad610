import t, { type Test } from 'tap'
import { matchEach } from '../support/match-each.ts'
import { drawB, PAID_AT_ISO, successB } from '../support/payments/gateway-events.ts'
import { allSaved, type PaymentService, paymentService } from '../support/payments/payments.ts'
import { refundOfB } from '../support/payments/reversals.ts'
import { ended, migrateCsv, rowsOf } from '../support/portfolio/migrate.ts'
import { repaymentsCsv } from '../support/portfolio/rows.ts'

const DAY = PAID_AT_ISO.slice(0, 10)

const transferOf = (loan: string) => ({ utr: `SBIN2260${loan}`, vaccount_id: `ACC${loan}` })

/** A transfer into a virtual account in the older, flat format, which names no loan. */
const older = (id: string, loan: string) => ({
  event: 'AMOUNT_COLLECTED',
  referenceId: id,
  amount: '1500.00',
  paymentTime: '2026-02-05 10:00:00',
  utr: transferOf(loan).utr,
  vAccountId: transferOf(loan).vaccount_id,
})

/** The same transfer in the format of today. */
function today(id: string, of: string, loan?: string) {
  const event: any = successB({ id: Number(id), amount: 1500, ...(loan && { loan }) })
  event.data.payment.payment_group = 'vba_transfer'
  event.data.payment.payment_method = { vba_transfer: transferOf(of) }
  return event
}

t.test('a payment that gateway B reports under two ids is booked once', async t => {
  const service = await paymentService(t)
  const send = async (...events: object[]) => {
    for (const event of events) await service.webhook('gateway_b', event, { lender: 'LENDER_02' })
    await allSaved(service.db)
    await service.batch()
  }
  const row = (loan: string, payment_reference: string, amount = '1500.00') => ({
    loan_external_id: loan,
    payment_reference,
    gateway: 'gateway_b',
    amount,
    transaction_date: DAY,
  })
  const migrate = (...rows: Record<string, string>[]) =>
    migrateCsv(service, 'repayments', repaymentsCsv(...rows))
  const payment = async (id: string) => (await service.payment(id, 'gateway_b')).payment
  const resolve = (id: string, resolution: object) =>
    service.call('POST', `/api/payments/gateway_b/${id}/resolve`, { note: 'seen', ...resolution })
  /** The dry run and the run say this of the row, and the loan keeps its one repayment. */
  const fails = async (t: Test, finding: string, one: Record<string, string>, said: RegExp) => {
    const { migration_id } = await migrateCsv(service, 'repayments', repaymentsCsv(one), {
      dry_run: true,
    })
    await service.call('POST', '/api/migration/run', { migration_id })
    t.match(await ended(service, migration_id), { done: 0, failed: 1 })
    const rows = await rowsOf(service, migration_id)
    matchEach(t, rows, [{ finding, finding_reason: said, reason: said }])
    t.equal(await standing(service, one.loan_external_id), 1)
  }

  await t.test('a row with the other id of a posted transfer differs', async t => {
    await service.loan('L-posted')
    await send(older('1', 'L-posted'), today('51', 'L-posted', 'L-posted'))
    t.match(await payment('51'), { state: 'posted' })
    const said = /receipt number is 51 there, under which gateway_b reported the same money/
    await fails(t, 'differs', row('L-posted', '1'), said)
  })

  await t.test('a row with the payment of a posted mandate debit differs', async t => {
    await service.loan('L-debit')
    await send(drawB('SUBSCRIPTION_PAYMENT_SUCCESS', {}, { loan_id: 'L-debit' }))
    await send(successB({ id: 4_212_435_861, amount: 399, loan: 'L-debit' }))
    const said = /receipt number is 49914526 there, under which gateway_b reported the same money/
    await fails(t, 'differs', row('L-debit', '4212435861', '399.00'), said)
  })

  await t.test('a row with the other id of what was booked by hand is refused', async t => {
    await service.loan('L-hand')
    await send(older('3', 'L-hand'), today('53', 'L-hand'))
    const { body } = await service.bookAt('L-hand', 1500, { paymentTypeId: 1 })
    const ledger_transaction_id = String((body as any).resourceId)
    const handled = { outcome: 'handled', external_loan_id: 'L-hand', ledger_transaction_id }
    t.equal((await resolve('3', handled)).status, 200)
    const said =
      /53 of gateway_b is the same money as another payment, which .* \(3 of loan L-hand\): leave the row out/
    await fails(t, 'refused', row('L-hand', '53'), said)
  })

  await t.test('a row with the other id of a dismissed copy is booked', async t => {
    await service.loan('L-copy')
    await send(older('4', 'L-copy'), today('54', 'L-copy'))
    t.equal((await resolve('4', { outcome: 'dismiss' })).status, 200)
    t.match(await migrate(row('L-copy', '54')), { done: 1, failed: 0 })
  })

  await t.test('the older id of what a file has booked is held until it is assigned', async t => {
    await service.loan('L-file')
    t.match(await migrate(row('L-file', '55')), { done: 1 })
    const account = transferOf('L-file').vaccount_id
    const reference = `/api/references/gateway_b/virtual_account/${account}`
    await service.call('PUT', reference, { external_loan_id: 'L-file' })
    await send(older('5', 'L-file'), today('55', 'L-file', 'L-none'))
    t.match(await payment('55'), { state: 'suspense', reason: 'events_disagree' })
    t.match(await payment('5'), {
      state: 'suspense',
      reason: 'ledger_refused',
      detail: /has a repayment under the payment’s other id 55: transaction \d+, gateway_b-55$/,
    })
    t.equal(await standing(service, 'L-file'), 1)
    await service.assign('5', 'L-file', 'gateway_b')
    await service.batch()
    t.equal(await standing(service, 'L-file'), 2)
  })

  await t.test('two rows of a file with the two ids are one payment', async t => {
    await service.loan('L-rows')
    await send(older('6', 'L-rows'), today('56', 'L-rows'))
    t.match(await migrate(row('L-rows', '6'), row('L-rows', '56')), { done: 1, failed: 1 })
    t.equal(await standing(service, 'L-rows'), 1)
  })
})

t.test('an id that only a mandate debit names is booked once', async t => {
  const service = await paymentService(t)
  const row = (loan_external_id: string, payment_reference: string, more: object = {}) =>
    repaymentsCsv({
      loan_external_id,
      payment_reference,
      gateway: 'gateway_b',
      amount: '399.00',
      transaction_date: DAY,
      ...more,
    })
  const file = (csv: string) => migrateCsv(service, 'repayments', csv)
  let last = 100
  /** A debit, the id that it names, and its loan. */
  const debit = async (tags: (loan: string) => object | null) => {
    const id = String(++last)
    const [loan, named] = [`L-${id}`, `4212${id}`]
    await service.loan(loan)
    const ids = { cf_payment_id: id, cf_txn_id: named }
    const event = drawB('SUBSCRIPTION_PAYMENT_SUCCESS', ids, tags(loan))
    await service.webhook('gateway_b', event, { lender: 'LENDER_02' })
    await service.batch()
    return { id, named, loan }
  }
  const resolve = (id: string, outcome: string) =>
    service.call('POST', `/api/payments/gateway_b/${id}/resolve`, { outcome, note: 'seen' })
  const fails = async (t: Test, csv: string, said: RegExp) => {
    const { migration_id } = await file(csv)
    matchEach(t, await rowsOf(service, migration_id), [{ state: 'failed', reason: said }])
  }

  await t.test('a row with the id is refused if the debit is posted', async t => {
    const { id, named, loan } = await debit(loan_id => ({ loan_id }))
    const said = RegExp(
      `receipt number is ${id} there, under which gateway_b reported the same money`,
    )
    for (const more of [{}, { transaction_date: '2026-02-06' }, { gateway: '' }])
      await fails(t, row(loan, named, more), said)
    await service.loan('L-else')
    const elsewhere = RegExp(
      `${named} of gateway_b is the same money as another payment, .*\\(${id}\\)`,
    )
    await fails(t, row('L-else', named), elsewhere)
    t.equal(await standing(service, loan), 1)
    t.equal(await standing(service, 'L-else'), 0)
  })

  for (const outcome of ['handled', 'dismiss'])
    await t.test(`a row with the id is refused if the debit is decided: ${outcome}`, async t => {
      const { id, named, loan } = await debit(() => null)
      t.equal((await resolve(id, outcome)).status, 200)
      const said = RegExp(
        `${named} of gateway_b is the same money as another payment, .*\\(${id}\\)`,
      )
      for (const more of [{}, { gateway: '' }]) await fails(t, row(loan, named, more), said)
      t.match(await file(row(loan, named, { amount: '9.00' })), { done: 1 }, 'it is other money')
    })

  await t.test('a row with the id is refused if the id was refunded', async t => {
    const { id, named, loan } = await debit(() => null)
    const refund = refundOfB(399, { id: 900, of: Number(named) })
    await service.webhook('gateway_b', refund, { lender: 'LENDER_02' })
    await service.batch()
    t.match((await service.payment(id, 'gateway_b')).payment, { reason: 'refund' })
    await fails(t, row(loan, named), /is the same money as another payment/)
  })

  await t.test('rows with the debit’s two ids are one payment', async t => {
    for (const isFirst of [true, false]) {
      const { id, named, loan } = await debit(() => null)
      const ids = isFirst ? [id, named] : [named, id]
      t.match(await file(row(loan, ids[0] as string)), { done: 1 })
      await fails(t, row(loan, ids[1] as string, { transaction_date: '2026-02-06' }), /same money/)
      t.equal(await standing(service, loan), 1)
    }
  })

  await t.test('a row with the id is booked while the debit waits for a loan', async t => {
    const { named, loan } = await debit(() => null)
    t.match(await file(row(loan, named)), { done: 1 })
  })
})

const standing = async (service: PaymentService, loan = '') =>
  (await service.books()).transactions.filter(
    one => one.loanExternalId === loan && one.type === 'repayment' && !one.reversed,
  ).length
