import { sql } from 'kysely'
import t from 'tap'
import { capturedA, refundA } from '../../support/payments/gateway-events.ts'
import { LENDER, paymentService } from '../../support/payments/payments.ts'

const PATH = '/api/payments/assign'
const item = (gateway_payment_id: string, external_loan_id = 'L-1') => ({
  gateway: 'gateway_a',
  gateway_payment_id,
  external_loan_id,
})

t.test('several payments are assigned in one call, each answered as by its own call', async t => {
  const service = await paymentService(t)
  const { call, db } = service
  await service.loan('L-1')
  for (const event of [capturedA(), capturedA({ id: 'pay_2' }), refundA({ of: 'pay_9' })])
    await service.webhook('gateway_a', event, LENDER)
  await service.batch()
  const assignments = [
    item('pay_1'),
    item('pay_none'),
    item('pay_1'),
    item('pay_2', '..'),
    item('rfnd_1'),
    item('pay_2'),
  ]
  const { status, body } = await call('POST', PATH, { assignments })
  t.equal(status, 200)
  t.same(
    body.results.map(
      (one: any) => `${one.gateway} ${one.gateway_payment_id} ${one.status} ${one.code}`,
    ),
    [
      'gateway_a pay_1 200 null',
      'gateway_a pay_none 404 NOT_FOUND',
      'gateway_a pay_1 409 CONFLICT',
      'gateway_a pay_2 400 INVALID_PAYLOAD',
      'gateway_a rfnd_1 409 CONFLICT',
      'gateway_a pay_2 200 null',
    ],
  )
  t.equal(body.results[0].detail, null)
  t.match(body.results[2].detail, /waiting/)
  const { rows } = await sql`select subject from ops.audit where action = 'payment.assign'`.execute(
    db,
  )
  t.equal(rows.length, 2)
  t.match(await service.batch(), { posted: 2 })
})

t.test('1 to 200 assignments of the right shape are taken', async t => {
  const { call } = await paymentService(t, { ROLE: 'api' })
  const { external_loan_id: _, ...loanless } = item('pay_1')
  for (const assignments of [
    undefined,
    [],
    Array.from({ length: 201 }, (_, i) => item(`pay_${i}`)),
    [loanless],
    [{ ...item('pay_1'), note: 'x' }],
    [{ ...item('pay_1'), gateway_payment_id: 1 }],
  ])
    t.match(await call('POST', PATH, { assignments }), {
      status: 400,
      body: { code: 'INVALID_PAYLOAD', errors: [{ path: /^\/assignments/ }] },
    })
})
