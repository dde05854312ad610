import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { readConfig } from '../../../src/config/config.ts'
import { logger } from '../../../src/log/log.ts'
import { startRole } from '../../../src/role.ts'
import { lendersFile } from '../../support/config/lenders-file.ts'
import { matchEach } from '../../support/match-each.ts'
import {
  capturedA,
  disputeA,
  eventA,
  refundA,
  signedA,
} from '../../support/payments/gateway-events.ts'
import { paymentService } from '../../support/payments/payments.ts'
import { testEnv } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const from = (address: string) => ({ 'x-forwarded-for': address })

/** LENDER_02 takes events from 10/8 only; L-2 is its loan, and L-3 one of LENDER_03, which takes them from anywhere. */
async function withNetworks(t: Test, trust: object = {}) {
  const gateway_a = { allowedCidrs: ['10.0.0.0/8'], ...trust }
  const LENDERS_FILE = lendersFile(t, { LENDER_02: { gateway_a } })
  const changes = { LENDERS_FILE, TRUST_PROXY: '127.0.0.1', SECRET_02: 's2' }
  const service = await paymentService(t, changes)
  await service.loan('L-2', { product: 2, principal: 50_000 })
  await service.loan('L-3', { product: 3 })
  const sentFrom =
    (address: string) =>
    (event: object, options: { lender?: string; secret?: string } = {}) => {
      const body = JSON.stringify(event)
      const { lender, secret } = options
      const signature = secret === undefined ? {} : signedA(secret, body)
      const headers = { ...from(address), ...signature }
      return service.webhook(
        'gateway_a',
        body,
        lender === undefined ? { headers } : { lender, headers },
      )
    }
  return {
    ...service,
    inside: sentFrom('10.1.2.3'),
    outside: sentFrom('8.8.8.8'),
    /** Runs a batch, and tells the payment. */
    async settled(id = 'pay_1') {
      await service.batch()
      return (await service.payment(id)).payment
    },
    /** The repayments of payments whose ids begin like this. */
    repaid: async (id: string) =>
      (await service.repayments()).filter(one => one.externalId?.startsWith(`gateway_a-${id}`)),
  }
}

/** All tests but those that need other settings or a ledger that is down share this service. */
const service = await withNetworks(t)

for (const lender of [undefined, 'LENDER_02', 'LENDER_03'])
  t.test(`an event from outside stops no payment, with lender ${lender ?? 'left out'}`, async t => {
    const pay = `pay_named_${lender}`
    const [rfnd, disp] = [`rfnd_named_${lender}`, `disp_named_${lender}`] as const
    const forged = {
      [`${pay}_amount`]: (id: string) => eventA('order.paid', { id, loan: 'L-2', amount: 100 }),
      [`${pay}_loan`]: (id: string) => eventA('order.paid', { id, loan: 'L-3' }),
      [`${pay}_refund`]: (of: string) => refundA({ id: rfnd, of }),
      [`${pay}_dispute`]: (id: string) => disputeA('created', { id, loan: 'L-3' }, disp),
    }
    for (const [id, event] of Object.entries(forged)) {
      await service.inside(capturedA({ id, loan: 'L-2' }))
      await service.outside(event(id), lender === undefined ? {} : { lender })
    }
    await service.batch()
    for (const id of Object.keys(forged))
      t.match((await service.payment(id)).payment, { state: 'posted', objection: null }, id)
    matchEach(
      t,
      (await service.repaid(`${pay}_`)).map(({ loanExternalId, amount }) => ({
        loanExternalId,
        amount,
      })),
      Object.keys(forged).map(() => ({ loanExternalId: 'L-2', amount: '1000.00' })),
    )
    const outsider = { state: 'suspense', reason: 'sender_not_allowed' }
    t.match((await service.payment(rfnd)).payment, outsider)
    t.match((await service.payment(disp)).payment, outsider)
  })

const refundOfHeld = (status: string) => refundA({ id: 'rfnd_held', of: 'pay_held_refund', status })
const disputeOfHeld = (status: string) =>
  disputeA(status, { id: 'pay_held_dispute', loan: 'L-2' }, 'disp_held')

for (const [what, held, released] of [
  ['refund', refundOfHeld('created'), refundOfHeld('failed')],
  ['dispute', disputeOfHeld('created'), disputeOfHeld('won')],
] as const)
  t.test(`a held payment is not released by the end of its ${what} from outside`, async t => {
    const id = `pay_held_${what}`
    await service.inside(capturedA({ id, loan: 'L-2' }))
    await service.inside(held)
    const reason = what === 'refund' ? 'refund' : 'chargeback'
    t.match(await service.settled(id), { state: 'suspense', reason })
    await service.outside(released, { lender: 'LENDER_03' })
    t.match(await service.settled(id), { state: 'suspense', reason })
    t.equal((await service.repaid(id)).length, 0)
    await service.inside({ ...released, created_at: 1 })
    t.match(await service.settled(id), { state: 'posted' })
  })

/** The event of the refund `id` that names this payment in place of its own; null: none. */
const refundOf = (of: string | null, id: string, status: string) => {
  const event = refundA({ id, of: 'pay_x', status })
  const refund = { ...event.payload.refund.entity, payment_id: of }
  return { ...event, payload: { refund: { entity: refund } } }
}

t.test('a refund from outside holds no payment that a reference gives its loan', async t => {
  const path = '/api/references/gateway_a/order/order_matched'
  await service.call('PUT', path, { external_loan_id: 'L-2' })
  const matched = (id: string) => capturedA({ id, payment: { order_id: 'order_matched' } })
  await service.inside(matched('pay_matched_1'))
  t.match(await service.settled('pay_matched_1'), { state: 'posted' }, 'the loan’s lender is known')
  await service.inside(matched('pay_matched_2'))
  await service.outside(refundOf('pay_matched_2', 'rfnd_matched', 'created'))
  t.match(await service.settled('pay_matched_2'), { state: 'posted', objection: null })
  const outsider = { state: 'suspense', reason: 'sender_not_allowed' }
  t.match((await service.payment('rfnd_matched')).payment, outsider)
})

t.test('a refund from outside holds no known payment that gets its loan along with it', async t => {
  await service.inside(capturedA({ id: 'pay_known', loan: 'L-2' }))
  t.match(await service.settled('pay_known'), { state: 'posted' }, 'the loan’s lender is known')
  const path = '/api/references/gateway_a/order/order_late'
  await service.call('PUT', path, { external_loan_id: 'L-2' })
  await service.inside(capturedA({ id: 'pay_late' }))
  t.match(await service.settled('pay_late'), { reason: 'no_loan_named' })
  await service.inside(
    eventA('order.paid', { id: 'pay_late', payment: { order_id: 'order_late' } }),
  )
  await service.outside(refundOf('pay_late', 'rfnd_late', 'created'))
  t.match(await service.settled('pay_late'), { state: 'posted', objection: null })
  t.match((await service.payment('rfnd_late')).payment, { reason: 'sender_not_allowed' })
})

t.test('no refund is taken from its payment by what comes from outside', async t => {
  const ids: string[] = []
  const later: (() => Promise<unknown>)[] = []
  for (const named of [{}, { lender: 'LENDER_02' }])
    for (const other of ['a_payment', 'z_payment', null])
      for (const order of ['before', 'with', 'after']) {
        const id = `pay_refunded_${ids.length}`
        const genuine = async () => {
          await service.inside(capturedA({ id, loan: 'L-2' }), named)
          await service.inside(refundOf(id, `rfnd_${id}`, 'created'), named)
        }
        const forged = () =>
          service.outside(refundOf(other, `rfnd_${id}`, 'failed'), { lender: 'LENDER_03' })
        const [first, second] = order === 'before' ? [forged, genuine] : [genuine, forged]
        await first()
        if (order === 'with') await second()
        else later.push(second)
        ids.push(id)
      }
  await service.batch()
  for (const send of later) await send()
  await service.batch()
  for (const id of ids)
    t.match((await service.payment(id)).payment, { state: 'suspense', reason: 'refund' }, id)
  t.equal((await service.repaid('pay_refunded_')).length, 0)
})

t.test('no refund is taken from its payment from outside while the ledger is down', async t => {
  const service = await withNetworks(t)
  await service.outside(refundOf('pay_2', 'rfnd_1', 'created'))
  await service.batch()
  await service.faults([{ kind: 'error', status: 502, match: { on: 'reads' } }])
  await service.inside(capturedA({ loan: 'L-2' }))
  await service.inside(refundOf('pay_1', 'rfnd_1', 'created'))
  await service.settled()
  await service.faults([])
  t.match(await service.ended('pay_1'), { state: 'suspense', reason: 'refund' })
  t.equal((await service.repayments()).length, 0)
})

t.test('an event from outside one lender’s networks silences no refund of another', async t => {
  await service.inside(capturedA({ id: 'pay_silenced_2', loan: 'L-2' }))
  await service.settled('pay_silenced_2')
  await service.outside(capturedA({ id: 'pay_silenced_3', loan: 'L-3' }))
  await service.outside(refundOf('pay_silenced_3', 'rfnd_silenced_3', 'created'))
  await service.outside(refundOf('pay_silenced_2', 'rfnd_silenced_3', 'created'))
  t.match(await service.settled('pay_silenced_3'), { state: 'suspense', reason: 'refund' })
})

t.test('a held payment is not released from outside while the ledger is down', async t => {
  const service = await withNetworks(t)
  await service.inside(capturedA({ loan: 'L-2' }))
  await service.inside(refundA({ status: 'created' }))
  await service.outside(refundA({ status: 'failed' }))
  await service.faults([{ kind: 'error', status: 502, match: { on: 'reads' } }])
  await service.settled()
  await service.faults([])
  const held = await until(async () => {
    const { payment } = await service.payment('pay_1')
    return payment.state === 'suspense' ? payment : undefined
  }, 'it is held again')
  t.match(held, { reason: 'refund' })
  t.equal((await service.repayments()).length, 0)
})

t.test('a payment all of whose events come from outside is sender_not_allowed', async t => {
  const id = 'pay_outside'
  await service.outside(capturedA({ id, loan: 'L-2' }))
  await service.outside(eventA('order.paid', { id, loan: 'L-2', amount: 100 }))
  await service.outside(refundA({ id: 'rfnd_outside', of: id }))
  t.match(await service.settled(id), { state: 'suspense', reason: 'sender_not_allowed' })
  await service.inside(eventA('payment_link.paid', { id, loan: 'L-2' }))
  t.match(await service.settled(id), { state: 'posted', amount: '1000' })
})

t.test('a verified event from outside does not outrank an unverified one from inside', async t => {
  const service = await withNetworks(t, { secretEnv: 'SECRET_02' })
  await service.inside(capturedA({ loan: 'L-2' }))
  await service.outside(eventA('order.paid', { loan: 'L-2', amount: 100 }), { secret: 's2' })
  t.match(await service.settled(), { state: 'posted', amount: '1000' })
})

t.test('a disagreement from outside is no objection to a posted payment', async t => {
  const id = 'pay_posted'
  await service.inside(capturedA({ id, loan: 'L-2' }))
  await service.settled(id)
  await service.outside(eventA('order.paid', { id, loan: 'L-2', amount: 100 }))
  t.match(await service.settled(id), { state: 'posted', objection: null })
})

t.test('a network that is written in two ways is one network', async t => {
  const service = await withNetworks(t, {
    allowedCidrs: ['10.1.2.3', '10.1.2.3/32', '::1', '0::1'],
  })
  await service.inside(capturedA({ loan: 'L-2' }))
  t.match(await service.settled(), { state: 'posted' })
})

t.test('networks of one lender hold back nothing of another', async t => {
  const of = 'pay_of_other'
  const id = 'rfnd_of_other'
  await service.outside(capturedA({ id: of, loan: 'L-3' }))
  await service.outside(refundA({ id, of, status: 'created' }))
  t.match(await service.settled(of), { state: 'suspense', reason: 'refund' })
  await service.outside(refundA({ id, of, status: 'failed' }))
  t.match(await service.settled(of), { state: 'posted', external_loan_id: 'L-3' })
})

t.test('payments that an outsider stopped go on once their lender’s networks are set', async t => {
  const service = await paymentService(t, { ROLE: 'api', TRUST_PROXY: '127.0.0.1' })
  const batchWith = async (gateway_a: object) => {
    const LENDERS_FILE = lendersFile(t, { LENDER_02: { gateway_a } })
    const env = testEnv(service.databaseUrl, service.ledger.url, { ROLE: 'worker', LENDERS_FILE })
    const worker = await startRole(readConfig(env), logger('silent'))
    await service.batch()
    await worker.close()
    return (await service.payment('pay_1')).payment
  }
  await service.loan('L-2', { product: 2 })
  const send = (event: object, address: string) =>
    service.webhook('gateway_a', event, { headers: from(address) })
  await send(capturedA({ loan: 'L-2' }), '10.1.2.3')
  await send(eventA('order.paid', { loan: 'L-2', amount: 100 }), '8.8.8.8')
  t.match(await batchWith({}), { state: 'suspense', reason: 'events_disagree' })
  t.match(await batchWith({ allowedCidrs: ['10.0.0.0/8'] }), { state: 'posted', amount: '1000' })
})

t.test('refunds from outside, however many, do not hide one from inside', async t => {
  const { rows } = await sql<{ most: number }>`select core.most_refunds() as most`.execute(
    service.db,
  )
  const [id, late] = ['pay_flooded', 'pay_flooded_late']
  const of = { [id]: 'rfnd_flooded', [late]: 'rfnd_flooded_late' }
  await service.inside(capturedA({ id, loan: 'L-2' }))
  for (const [payment, refund] of Object.entries(of)) {
    for (let i = 0; i < (rows[0]?.most ?? 0); i++)
      await service.outside(refundA({ id: `${refund}_${i}`, of: payment }))
    await service.inside(refundA({ id: refund, of: payment }))
  }
  await service.batch()
  await service.inside(capturedA({ id: late, loan: 'L-2' }))
  await service.batch()
  for (const payment of [id, late])
    t.match((await service.payment(payment)).payment, { state: 'suspense', reason: 'refund' })
})
