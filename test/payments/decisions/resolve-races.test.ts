import { sql } from 'kysely'
import t from 'tap'
import { expireLeases } from '../../support/engine/leases.ts'
import { matchEach } from '../../support/match-each.ts'
import { capturedA, eventA, refundA } from '../../support/payments/gateway-events.ts'
import { LENDER, type PaymentService, paymentService } from '../../support/payments/payments.ts'
import { crashPointsIn, startProcessFor } from '../../support/process.ts'
import { testEnv } from '../../support/service.ts'

const IDS = Array.from({ length: 12 }, (_, i) => `pay_${i}`)
const POST = {
  outcome: 'post',
  external_loan_id: 'L-1',
  amount: 990,
  paid_on: '06 February 2026',
  note: 'agreed',
}

/** Payments held because the loan that they name does not exist yet; then it does. */
async function held(service: PaymentService, loan = 'L-1') {
  for (const id of IDS) await service.webhook('gateway_a', capturedA({ id, loan }), LENDER)
  await service.batch()
  await service.loan('L-1', { principal: 90_000 })
}

/** The amounts booked per payment. */
async function booked(service: PaymentService) {
  const amounts = new Map<unknown, string[]>()
  for (const { receiptNumber, amount } of await service.repayments())
    amounts.set(receiptNumber, [...(amounts.get(receiptNumber) ?? []), amount])
  return amounts
}

t.test('of several operators who decide at once exactly one does', async t => {
  const service = await paymentService(t)
  await held(service, 'L-none')
  const ways = ['handled', 'dismiss', 'post', 'assign']
  const done = new Map<string, string[]>()
  await Promise.all(
    IDS.flatMap(id =>
      ways.map(async way => {
        const { status } = await (way === 'assign'
          ? service.assign(id, 'L-1')
          : service.resolve(id, way === 'post' ? POST : { outcome: way, note: 'x' }))
        if (status === 200) done.set(id, [...(done.get(id) ?? []), way])
        else if (status !== 409) throw new Error(`${way} got ${status}`)
      }),
    ),
  )
  await service.batch()
  const amounts = await booked(service)
  const expected: Record<string, string[] | undefined> = { post: ['990.00'], assign: ['1000.00'] }
  for (const id of IDS) {
    const [way = '', ...others] = done.get(id) ?? []
    t.same(others, [], `${id} by ${way} alone`)
    t.same(amounts.get(id), expected[way])
  }
  const { rows } = await sql`
    select subject from ops.audit where action like 'payment.%'`.execute(service.db)
  t.equal(rows.length, IDS.length)
})

t.test('a resolution and a batch that tries again post a payment once', async t => {
  const service = await paymentService(t)
  await held(service)
  const batch = service.batch()
  const statuses = await Promise.all(
    IDS.map(async id => [id, (await service.resolve(id, POST)).status] as const),
  )
  await batch
  await service.batch()
  const amounts = await booked(service)
  for (const [id, status] of statuses)
    t.same(amounts.get(id), [status === 200 ? '990.00' : '1000.00'], `${id} got ${status}`)
})

t.test('webhooks that arrive during a resolution do not change what it books', async t => {
  const service = await paymentService(t)
  await held(service, 'L-none')
  const late = IDS.flatMap(id => [
    service.webhook('gateway_a', eventA('order.paid', { id, loan: 'L-2', amount: 7 }), LENDER),
    service.webhook('gateway_a', refundA({ id: `r_${id}`, of: id }), LENDER),
  ])
  const batch = service.batch()
  const statuses = await Promise.all(
    IDS.map(async id => [id, (await service.resolve(id, POST)).status] as const),
  )
  await Promise.all(late)
  await batch
  await service.batch()
  const amounts = await booked(service)
  for (const [id, status] of statuses) {
    const { payment } = await service.payment(id)
    const wanted = status === 200 ? ['posted', ['990.00']] : ['suspense', undefined]
    t.same([payment.state, amounts.get(id)], wanted, `${id} got ${status}`)
  }
})

t.test('wherever a worker dies with a decided payment, the decision is posted once', async t => {
  const service = await paymentService(t, { ROLE: 'api' })
  await service.loan('L-1')
  const points = ['batch.posting', 'write.answered', 'posting.recorded', 'finish.committed']
  const env = testEnv(service.databaseUrl, service.ledger.url)
  const first = startProcessFor(t, 'worker', env)
  for (const id of points) await service.webhook('gateway_a', capturedA({ id }), LENDER)
  await service.batch()
  await first.kill('SIGKILL')
  for (const id of points) {
    t.equal((await service.resolve(id, POST)).status, 200)
    const doomed = startProcessFor(t, 'worker', { ...env, LOANOPS_CRASH_AT: id })
    await service.call('POST', '/api/payments/batch')
    await doomed.ended
    t.same(crashPointsIn(doomed.said), [id])
    await expireLeases(service.db)
  }
  startProcessFor(t, 'worker', env)
  await service.batch()
  await service.batch()
  const expected = points.map(receiptNumber => ({ receiptNumber, amount: '990.00' }))
  const repayments = await service.repayments()
  matchEach(
    t,
    repayments.sort(
      (a, b) => points.indexOf(`${a.receiptNumber}`) - points.indexOf(`${b.receiptNumber}`),
    ),
    expected,
  )
})
