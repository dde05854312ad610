import t, { type Test } from 'tap'
import { matchEach } from '../support/match-each.ts'
import { capturedA, PAID_AT_ISO, refundA, successB } from '../support/payments/gateway-events.ts'
import { allSaved } from '../support/payments/payments.ts'
import { MANUAL, reversing } from '../support/payments/reversals.ts'
import { ended, migrateCsv, rowsOf } from '../support/portfolio/migrate.ts'
import { repaymentsCsv } from '../support/portfolio/rows.ts'
import { until } from '../support/until.ts'

const DAY = PAID_AT_ISO.slice(0, 10)
const NOTE = { note: 'seen' }
const DISMISS = { outcome: 'dismiss', ...NOTE }

const row = (loan: string, id: string, changes: Record<string, string> = {}) =>
  repaymentsCsv({
    loan_external_id: loan,
    payment_reference: id,
    gateway: 'gateway_a',
    amount: '1000.00',
    transaction_date: DAY,
    ...changes,
  })

t.test('a payment that is not to be booked is not booked by a file', async t => {
  const service = await withFiles(t)

  await t.test('one that was booked by hand is named with its transaction', async t => {
    const { id, loan } = await service.own('Hand')
    const rrn = await service.pay(id)
    const ledger_transaction_id = await service.byHand(loan)
    const handled = { outcome: 'handled', external_loan_id: loan, ledger_transaction_id, ...NOTE }
    t.equal((await service.resolve(id, handled)).status, 200)
    const said = `is handled, because its money was booked by hand \\(transaction ${ledger_transaction_id} there\\): leave the row out, or reopen the payment$`
    await service.refuses(t, row(loan, id), loan, new RegExp(`${id} of gateway_a ${said}`))
    await service.refuses(t, row(loan, id.toUpperCase(), { gateway: '' }), loan, new RegExp(said))
    const byBank = new RegExp(`${id} of gateway_a, whose bank reference this is, ${said}`)
    await service.refuses(t, row(loan, rrn, { gateway: '' }), loan, byBank)
  })

  await t.test('one that was dismissed is booked once it is reopened', async t => {
    const { id, loan } = await service.own('forged')
    await service.pay(id)
    t.equal((await service.resolve(id, DISMISS)).status, 200)
    const said =
      /is dismissed, so that nothing is to be booked: leave the row out, or reopen the payment$/
    await service.refuses(t, row(loan, id), loan, said)
    t.equal((await service.resolve(id, { outcome: 'reopen', ...NOTE })).status, 200)
    t.match(await service.migrate(row(loan, id)), { done: 1 })
    t.equal(await service.repaid(loan), 1)
  })

  await t.test('one that went back, or perhaps did, is not booked', async t => {
    const { id, loan } = await service.own('doubtful')
    await service.pay(id)
    await service.giveBack(id)
    t.match((await service.payment(id)).payment, { state: 'suspense', reason: 'refund' })
    await service.refuses(
      t,
      row(loan, id),
      loan,
      /is in suspense, because of a refund: leave the row out/,
    )
    const back = await service.own('back')
    await service.pay(back.id, service.nextRrn(), back.loan)
    await service.giveBack(back.id)
    t.equal((await service.decide(`rfnd_${back.id}`, 'reverse')).status, 200)
    await service.batch()
    await until(
      async () => (await service.payment(back.id)).payment.state === 'returned',
      'it is returned',
    )
    const said = /is returned, because all of it went back: leave the row out$/
    await service.refuses(t, row(back.loan, back.id, { gateway: '' }), back.loan, said)
  })

  await t.test('the same bank reference with another loan, day or amount is no reason', async t => {
    const { id, loan } = await service.own('other')
    const rrn = await service.pay(id, service.nextRrn(), 'L-OTHER')
    const unnamed = await service.own('unnamed')
    const ofNoLoan = await service.pay(unnamed.id)
    for (const one of [id, unnamed.id]) t.equal((await service.resolve(one, DISMISS)).status, 200)
    const rows = [
      row(loan, rrn, { gateway: '' }),
      row(loan, ofNoLoan, { gateway: '', amount: '999.00' }),
      row(unnamed.loan, ofNoLoan, { gateway: '', transaction_date: '2026-02-04' }),
      row(loan, unnamed.id, { gateway: 'gateway_b' }),
    ]
    for (const one of rows) t.match(await service.migrate(one), { done: 1, failed: 0 })
  })

  await t.test('a lender’s own receipt number is no payment of other money', async t => {
    await service.loan('L-receipt')
    await service.payB(successB({ id: 77_001, amount: 399, loan: 'L-NONE' }))
    await service.dismissB(77_001)
    const own = { gateway: '', amount: '12.00', transaction_date: '2026-03-01' }
    t.match(await service.migrate(row('L-receipt', '0077001', own)), { done: 1, failed: 0 })
    const named = row('L-receipt', '77001', { gateway: 'gateway_b', amount: '399.00' })
    await service.refuses(t, named, 'L-receipt', /77001 of gateway_b is dismissed/)
    await service.payB(successB({ id: 77_002, amount: 399 }))
    await service.dismissB(77_002)
    const same = row('L-receipt', '0077002', { gateway: '', amount: '399.00' })
    await service.refuses(t, same, 'L-receipt', /77002 of gateway_b is dismissed/)
  })

  await t.test('a dismissed copy holds up no row while the payment itself waits', async t => {
    const [{ id, loan }, copy] = [await service.own('kept'), await service.own('copy')]
    const rrn = service.nextRrn()
    for (const one of [id, copy.id]) await service.pay(one, rrn)
    t.equal((await service.resolve(copy.id, DISMISS)).status, 200)
    t.match(await service.migrate(row(loan, rrn, { gateway: '' })), { done: 1, failed: 0 })
    t.equal((await service.resolve(id, DISMISS)).status, 200)
    const byBank = /whose bank reference this is, is dismissed/
    await service.refuses(t, row(copy.loan, rrn, { gateway: '' }), copy.loan, byBank)
  })

  await t.test('a row that booked it before remains done', async t => {
    const { id, loan } = await service.own('booked')
    t.match(await service.migrate(row(loan, id)), { done: 1 })
    await service.pay(id)
    t.equal((await service.resolve(id, DISMISS)).status, 200)
    t.match(await service.migrate(row(loan, id)), { done: 1, failed: 0 })
    t.equal(await service.repaid(loan), 1)
  })
})

t.test('a file books no payment on a second loan, except a part that was left out', async t => {
  const service = await withFiles(t)

  await t.test('one that is booked on another loan is not booked on this one', async t => {
    const [{ id, loan }, other] = [await service.own('posted'), await service.own('beside')]
    await service.pay(id, service.nextRrn(), loan)
    const said =
      /is booked on another loan, or on its way there \(L-posted\): leave the row out, or correct its loan$/
    await service.refuses(t, row(other.loan, id.toUpperCase(), { gateway: '' }), other.loan, said)
    await service.refuses(t, row(other.loan, id), other.loan, said)
    t.match(await service.migrate(row(loan, id)), { done: 1 })
    t.equal(await service.repaid(loan), 1)
  })

  await t.test('a part that was left out of a payment is booked on its other loan', async t => {
    const [{ id, loan }, other] = [await service.own('shared'), await service.own('sharing')]
    await service.pay(id)
    const part = {
      outcome: 'post',
      external_loan_id: loan,
      amount: 600,
      paid_on: '05 February 2026',
    }
    t.equal((await service.resolve(id, { ...part, ...NOTE })).status, 200)
    await service.batch()
    t.equal(await service.repaid(loan), 1)
    const more = row(other.loan, id, { gateway: '', amount: '400.01' })
    await service.refuses(t, more, other.loan, /is booked on another loan/)
    t.match(await service.migrate(row(other.loan, id, { gateway: '', amount: '400.00' })), {
      done: 1,
    })
  })
})

async function withFiles(t: Test) {
  const service = await reversing(t, MANUAL)
  let last = 777_711_223_344
  /** A loan, and the id of its payment. */
  const own = async (name: string) => {
    await service.loan(`L-${name}`)
    return { loan: `L-${name}`, id: `pay_${name}` }
  }
  const nextRrn = () => String(last++)
  /** A payment that names no loan, so that it waits in suspense. */
  const pay = async (id: string, rrn = nextRrn(), loan?: string) => {
    const facts = { id, ...(loan && { loan }), payment: { acquirer_data: { rrn } } }
    await service.signed(capturedA(facts))
    await allSaved(service.db)
    await service.batch()
    return rrn
  }
  const payB = async (event: object) => {
    await service.webhook('gateway_b', event, { lender: 'LENDER_02' })
    await allSaved(service.db)
    await service.batch()
  }
  const dismissB = (id: number) =>
    service.call('POST', `/api/payments/gateway_b/${id}/resolve`, DISMISS)
  const giveBack = async (id: string) => {
    await service.signed(refundA({ id: `rfnd_${id}`, of: id }))
    await allSaved(service.db)
    await service.batch()
  }
  const migrate = (csv: string) => migrateCsv(service, 'repayments', csv)
  const repaid = async (loan: string) =>
    (await service.books()).transactions.filter(
      one => one.loanExternalId === loan && one.type === 'repayment' && !one.reversed,
    ).length
  /** The dry run and the run of the row say this, and nothing is booked. */
  const refuses = async (t: Test, csv: string, loan: string, said: RegExp) => {
    const before = await repaid(loan)
    const dry = await migrateCsv(service, 'repayments', csv, { dry_run: true })
    t.match(dry.dry_run, { would_change: 0, refused: 1 })
    const { migration_id } = dry
    await service.call('POST', '/api/migration/run', { migration_id })
    t.match(await ended(service, migration_id), { done: 0, failed: 1 })
    const rows = await rowsOf(service, migration_id)
    matchEach(t, rows, [{ finding: 'refused', finding_reason: said, reason: said }])
    t.equal(await repaid(loan), before)
  }
  const byHand = async (loan: string) => {
    const { body } = await service.bookAt(loan, 1000, { paymentTypeId: 1 })
    return String((body as any).resourceId)
  }
  return {
    ...service,
    own,
    nextRrn,
    pay,
    payB,
    dismissB,
    giveBack,
    migrate,
    repaid,
    refuses,
    byHand,
  }
}
