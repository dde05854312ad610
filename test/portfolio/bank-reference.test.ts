import t from 'tap'
import { matchEach } from '../support/match-each.ts'
import { capturedA, PAID_AT_ISO, successB } from '../support/payments/gateway-events.ts'
import { allSaved, LENDER, paymentService } from '../support/payments/payments.ts'
import { ended, migrateCsv, rowsOf } from '../support/portfolio/migrate.ts'
import { repaymentsCsv } from '../support/portfolio/rows.ts'

const DAY = PAID_AT_ISO.slice(0, 10)
/** A transfer's number at the bank, which the gateway reports beside its own id. */
const RRN = '401795959317'

t.test('a payment is booked once, under its bank reference or its gateway’s id', async t => {
  const service = await paymentService(t)
  const row = (loan: string, changes: Record<string, string> = {}) => ({
    loan_external_id: loan,
    payment_reference: RRN,
    amount: '1000.00',
    transaction_date: DAY,
    ...changes,
  })
  const migrate = (...rows: Record<string, string>[]) =>
    migrateCsv(service, 'repayments', repaymentsCsv(...rows))
  const post = async (event: unknown, gateway: 'gateway_a' | 'gateway_b' = 'gateway_a') => {
    await service.webhook(gateway, event, LENDER)
    await allSaved(service.db)
    await service.batch()
  }
  const pay = (id: string, loan?: string, rrn = RRN) =>
    post(capturedA({ id, ...(loan && { loan }), payment: { acquirer_data: { rrn } } }))
  const standing = async (loan: string) =>
    (await service.books()).transactions.filter(
      one => one.loanExternalId === loan && one.type === 'repayment' && !one.reversed,
    )

  t.test('a row with the bank reference of a posted payment differs, and says so', async t => {
    await service.loan('A')
    await pay('pay_a', 'A')
    const csv = repaymentsCsv(row('A'))
    const { migration_id, dry_run } = await migrateCsv(service, 'repayments', csv, {
      dry_run: true,
    })
    t.match(dry_run, { would_change: 0, differs: 1 })
    await service.call('POST', '/api/migration/run', { migration_id })
    t.match(await ended(service, migration_id), { done: 0, failed: 1 })
    const said =
      /it is payment pay_a of gateway_a there, whose bank reference this is: enter pay_a as payment_reference and gateway_a as gateway$/
    const rows = await rowsOf(service, migration_id)
    matchEach(t, rows, [{ finding: 'differs', finding_reason: said, reason: said }])
    const corrected = row('A', { payment_reference: 'pay_a', gateway: 'gateway_a' })
    t.match(await migrate(corrected), { done: 1 })
    matchEach(t, await standing('A'), [{ externalId: 'gateway_a-pay_a' }])
  })

  t.test('a payment whose bank reference a row has booked is held until assigned', async t => {
    await service.loan('B')
    t.match(await migrate(row('B')), { done: 1 })
    const [booked] = await standing('B')
    await pay('pay_b', 'B')
    t.match((await service.payment('pay_b')).payment, {
      state: 'suspense',
      reason: 'ledger_refused',
      detail: `Refused with status 409: The loan has a repayment of this day and amount under the payment’s bank reference ${RRN}: transaction ${booked?.id}, ${booked?.externalId}`,
    })
    t.equal((await standing('B')).length, 1)
    await service.assign('pay_b', 'B')
    await service.batch()
    t.match((await service.payment('pay_b')).payment, { state: 'posted' })
    t.equal((await standing('B')).length, 2)
  })

  t.test('a gateway B reference is found as well, without its leading zero', async t => {
    await service.loan('C')
    const event = (id: number) => {
      const { data, ...rest } = successB({ id, loan: 'C' })
      const payment = { ...data.payment, bank_reference: `0${RRN}` }
      return { ...rest, data: { ...data, payment } }
    }
    await post(event(1_453_002_811), 'gateway_b')
    t.match(await migrate(row('C')), { failed: 1 })
    t.equal((await standing('C')).length, 1)
  })

  t.test('the same reference with another loan, day or amount is another payment', async t => {
    for (const loan of ['D', 'E', 'F', 'G']) await service.loan(loan)
    for (const id of ['pay_d', 'pay_d2']) await pay(id, 'D')
    t.equal((await standing('D')).length, 2, 'test modes give each payment one reference')
    await pay('pay_e', 'E')
    t.match(await migrate(row('E', { amount: '999.00' })), { done: 1 })
    await pay('pay_f', 'F')
    t.match(await migrate(row('F', { transaction_date: '2026-02-04' })), { done: 1 })
    t.match(await migrate(row('G')), { done: 1 })
    await pay('pay_g', 'G', '000000000000')
    t.match((await service.payment('pay_g')).payment, { state: 'posted' })
  })

  for (const [name, order] of [
    ['the gateway’s id comes first', ['id', 'reference']],
    ['the bank reference comes first', ['reference', 'id']],
  ] as const)
    t.test(`a file’s second row of a payment is refused if ${name}`, async t => {
      const loan = `H-${order[0]}`
      const id = `pay_${order[0]}`
      await service.loan(loan)
      // It names no loan, and waits in suspense.
      await pay(id)
      const rows = {
        id: row(loan, { payment_reference: id, gateway: 'gateway_a' }),
        reference: row(loan),
      }
      const csv = repaymentsCsv(...order.map(one => rows[one]))
      const { migration_id, dry_run } = await migrateCsv(service, 'repayments', csv, {
        dry_run: true,
      })
      matchEach(t, dry_run.findings, [
        { line: 3, reason: 'payment_reference: this payment is also in line 2' },
      ])
      await service.call('POST', '/api/migration/run', { migration_id })
      t.match(await ended(service, migration_id), { done: 1, failed: 1 })
      t.equal((await standing(loan)).length, 1)
    })
})

const LONG = 'x'.repeat(50)

t.test('a payment is booked once, however its file spells its id or names its gateway', async t => {
  const service = await paymentService(t)
  const names = [
    (id: string) => ({ payment_reference: id.toUpperCase(), gateway: 'gateway_a' }),
    (id: string) => ({ payment_reference: id }),
    (id: string) => ({ payment_reference: id.toUpperCase() }),
    (id: string) => ({ payment_reference: id.replace('pay', LONG) }),
  ]
  const cases = names.flatMap((name, index) =>
    [true, false].map(isIdFirst => ({ name, isLong: index === 3, isIdFirst })),
  )
  for (const [index, { name, isLong, isIdFirst }] of cases.entries()) {
    const [loan, rrn] = [`L-${index}`, `40179595${index}`]
    const id = `${isLong ? LONG : 'pay'}_Aa${index}`
    await service.loan(loan)
    const event = capturedA({ id, payment: { acquirer_data: { rrn } } })
    await service.webhook('gateway_a', event, LENDER)
    await allSaved(service.db)
    await service.batch()
    const money = { loan_external_id: loan, amount: '1000.00', transaction_date: DAY }
    const rows = [
      { ...money, ...name(`pay_Aa${index}`) },
      { ...money, payment_reference: rrn },
    ]
    const done = []
    for (const row of isIdFirst ? rows : rows.toReversed()) {
      const migrated = await migrateCsv(service, 'repayments', repaymentsCsv(row))
      done.push(migrated.done)
      if (done.length === 2)
        matchEach(t, await rowsOf(service, migrated.migration_id), [
          {
            reason: isIdFirst
              ? RegExp(`it is payment ${id} of gateway_a there`)
              : /the bank’s reference of this payment: leave the row out$/,
          },
        ])
    }
    t.same(done, [1, 0], JSON.stringify(rows))
  }
})
