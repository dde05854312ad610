import { sql } from 'kysely'
import t from 'tap'
import { callbackReceiver } from '../support/callbacks/callback-receiver.ts'
import { callbackSecret } from '../support/callbacks/callback-secret.ts'
import { ending, submit } from '../support/engine/operations.ts'
import { clientData } from '../support/ledger/loans.ts'
import { matchEach } from '../support/match-each.ts'
import { capturedA, refundA } from '../support/payments/gateway-events.ts'
import { LENDER, paymentService } from '../support/payments/payments.ts'
import type { TestService } from '../support/service.ts'
import { until } from '../support/until.ts'

t.test(
  'each operation that ends is reported once, signed, numbered per subject, and without personal data',
  async t => {
    const receiver = await callbackReceiver(t)
    const service = await paymentService(t, receiver.settings)
    const client = {
      ...clientData('C-1'),
      firstname: 'CLIENT',
      lastname: 'Chandrika',
      mobileNo: '9198765432',
    }
    const first = await submit(service.call, 'CLIENT_CREATE', client)
    const record = await ending(service.call, first)
    const second = await submit(service.call, 'CLIENT_CREATE', client)
    await ending(service.call, second)
    await receiver.attempts(2)
    t.same(receiver.refused, [])
    matchEach(
      t,
      receiver.received.map(({ body }) => body),
      [
        {
          type: 'operation.succeeded',
          sequence: 1,
          timestamp: `${record.processed_at}Z`,
          data: {
            tracking_id: first,
            status: 'success',
            external_id: 'C-1',
            success_response: { clientId: record.success_response.clientId },
            failure_response: null,
          },
        },
        {
          type: 'operation.failed',
          sequence: 2,
          data: { tracking_id: second, status: 'failed', failure_response: Object },
        },
      ],
    )
    const texts = receiver.received.map(({ text }) => text).join()
    t.notMatch(texts, /Chandrika|9198765432/)
    await until(async () => (await states(service)).every(state => state === 'delivered'))
    t.equal(receiver.received.length, 2)
  },
)

t.test('a stranger’s text in the place of an id or a currency is not sent', async t => {
  const receiver = await callbackReceiver(t)
  const service = await paymentService(t, receiver.settings)
  const strange = { loan: 'Mr Payer +91 98765 43210', currency: 'Call Mr Payer' }
  await service.webhook('gateway_a', capturedA({ id: 'payer@upi', ...strange }), LENDER)
  await service.webhook('gateway_a', capturedA({ id: 'of payer@upi' }), LENDER)
  await service.batch()
  await receiver.attempts(2)
  const ids = { gateway_payment_id: null, external_loan_id: null }
  for (const { body } of receiver.received) t.match(body, { type: 'payment.suspended', data: ids })
  t.notMatch(receiver.received.map(({ text }) => text).join(), /Payer|payer|43210/)
  const { body } = await service.call('GET', '/api/callbacks')
  t.same(
    body.callbacks.map((one: any) => one.subject).sort(),
    receiver.received.map(({ body: { data } }) => `payment:gateway_a/${data.raw_id}`).sort(),
  )
})

t.test('the states of a payment are reported as they become true, each once', async t => {
  const receiver = await callbackReceiver(t)
  const service = await paymentService(t, receiver.settings)
  await service.loan('L-1')
  await service.webhook('gateway_a', capturedA({ loan: 'L-none' }), LENDER)
  await service.batch()
  // Tried again, and suspended for the same reason.
  await sql`update core.transaction set next_try_at = now()`.execute(service.db)
  await service.batch()
  await service.assign('pay_1', 'L-1')
  await service.batch()
  await service.webhook('gateway_a', refundA(), LENDER)
  await service.batch()
  await receiver.attempts(4)
  await until(async () => (await states(service)).every(state => state === 'delivered'))
  matchEach(
    t,
    receiver.received
      .filter(({ body }) => body.data.kind === 'payment')
      .map(({ body: { type, data } }) => ({ type, state: data.state, objection: data.objection })),
    [
      { type: 'payment.suspended', state: 'suspense', objection: null },
      { type: 'payment.posted', state: 'posted', objection: null },
      { type: 'payment.objected', state: 'posted', objection: 'refund' },
    ],
  )
  matchEach(
    t,
    receiver.received
      .filter(({ body }) => body.data.kind === 'refund')
      .map(({ body: { type, data } }) => ({ type, of: data.of_payment_id })),
    [{ type: 'payment.suspended', of: 'pay_1' }],
  )
})

t.test('a payment’s callbacks arrive in order, also once it gets a loan, or another', async t => {
  const receiver = await callbackReceiver(t)
  const service = await paymentService(t, receiver.settings)
  const isRefused = ({ type, data }: { type: string; data: any }) =>
    type === 'payment.suspended' && (data.gateway_payment_id !== 'pay_3' || data.external_loan_id)
  receiver.respond((response, { body }) => response.writeHead(isRefused(body) ? 503 : 200).end())
  for (const loan of ['L-1', 'L-3']) await service.loan(loan)
  await service.webhook('gateway_a', capturedA({ loan: 'L-none' }), LENDER)
  await service.webhook('gateway_a', capturedA({ id: 'pay_2', loan: '' }), LENDER)
  await service.webhook('gateway_a', capturedA({ id: 'pay_3', loan: '' }), LENDER)
  await service.batch()
  await receiver.attempts(3)
  await service.assign('pay_3', 'L-gone')
  await service.batch()
  for (const id of ['pay_1', 'pay_2']) await service.assign(id, 'L-1')
  await service.assign('pay_3', 'L-3')
  await service.batch()
  await ending(service.call, await submit(service.call, 'CLIENT_CREATE', clientData('C-2')))
  await until(async () => receiver.received.some(({ body }) => body.data.external_id === 'C-2'))
  receiver.respond(response => response.end())
  await sql`
      update loanops.callback set next_try_at = now() where state = 'pending'`.execute(service.db)
  await until(async () => (await states(service)).every(state => state === 'delivered'))
  // A callback that is tried again counts once, when it is delivered.
  const said = new Map<unknown, string>()
  for (const { headers, body } of receiver.received) {
    said.delete(headers['webhook-id'])
    said.set(headers['webhook-id'], `${body.data.gateway_payment_id} ${body.type}`)
  }
  for (const [id, suspended] of Object.entries({ pay_1: 1, pay_2: 1, pay_3: 2 }))
    t.same(
      [...said.values()].filter(one => one.startsWith(id)),
      [...Array(suspended).fill(`${id} payment.suspended`), `${id} payment.posted`],
    )
})

t.test('every secret in rotation signs, and types that are not wanted create no row', async t => {
  const receiver = await callbackReceiver(t)
  const service = await paymentService(t, {
    CALLBACK_URL: receiver.url,
    CALLBACK_SECRET: `${callbackSecret()},${receiver.secret}`,
    CALLBACK_EVENTS: 'operation.failed',
  })
  const client = clientData('C-1')
  await ending(service.call, await submit(service.call, 'CLIENT_CREATE', client))
  await ending(service.call, await submit(service.call, 'CLIENT_CREATE', client))
  await receiver.attempts(1)
  t.same(
    receiver.received.map(({ body }) => [body.type, body.sequence]),
    [['operation.failed', 1]],
  )
  t.match(receiver.received[0]?.headers['webhook-signature'], /^v1,\S+ v1,\S+$/)
  t.equal((await states(service)).length, 1)
})

async function states({ db }: Pick<TestService, 'db'>) {
  const { rows } = await sql<{ state: string }>`select state from ops.callback`.execute(db)
  return rows.map(({ state }) => state)
}
