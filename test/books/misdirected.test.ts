import { sql } from 'kysely'
import t from 'tap'
import { asPerson } from '../support/accounts/as-person.ts'
import { withReadback } from '../support/books/readback.ts'
import { filled } from '../support/books/reconciliation.ts'
import { STATEMENT_HEADER, uploadStatement } from '../support/books/statements.ts'
import { capturedA, PAID_AT_ISO } from '../support/payments/gateway-events.ts'
import { LENDER, paymentService } from '../support/payments/payments.ts'

const DAY = '2026-02-05'
const PAID = capturedA({ loan: 'L-1' })

t.test('a payment posted from the other gateway’s URL is in its own gateway’s books', async t => {
  const service = withReadback(await paymentService(t))
  await service.loan('L-1')
  await service.webhook('gateway_b', PAID, LENDER)
  await service.batch()
  const { payments } = (await service.call('GET', '/api/payments?reason=unreadable')).body
  const stray = payments[0].gateway_payment_id
  const post = {
    outcome: 'post',
    external_loan_id: 'L-1',
    amount: 1000,
    paid_on: '05 February 2026',
  }
  const path = `/api/payments/gateway_b/${stray}/resolve`
  const person = await asPerson(service)
  t.match(await service.call('POST', path, { ...post, note: 'seen' }, person), { status: 200 })
  await service.batch()
  await service.readBack()
  const row = `pay_1,1000.00,INR,captured,${PAID_AT_ISO},,,,,`
  const statement = 'gateway_a/statement?lender=LENDER_02'
  await uploadStatement(service.url, statement, `${STATEMENT_HEADER}\n${row}`)
  const booked = async () => {
    await sql`
      insert into core.changed_day values (${DAY}) on conflict do nothing`.execute(service.db)
    const { days } = (await service.call('GET', `/api/reconciliation?from=${DAY}&to=${DAY}`)).body
    return days.map((day: any) => [day.gateway, day.balanced, filled(day)])
  }
  const own = [['gateway_a', true, { posted: '1 1000.00' }]]
  t.same(await booked(), own)
  const list = `/api/reconciliation/payments?day=${DAY}&bucket=posted&gateway=gateway_a`
  t.match((await service.call('GET', list)).body.payments, [
    { gateway: 'gateway_b', gateway_payment_id: stray },
  ])

  await service.webhook('gateway_a', PAID, LENDER)
  await service.batch()
  t.same(await booked(), [['gateway_a', false, { suspense: '1 1000.00' }]])
  await service.resolve('pay_1', { outcome: 'dismiss', note: 'posted already' }, '', person)
  await service.batch()
  t.same(await booked(), own)
})
