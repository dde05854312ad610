import t from 'tap'
import { paidB, withConfirm } from '../support/books/confirm.ts'
import { capturedA, refundB } from '../support/payments/gateway-events.ts'

const B = 'gateway_b'
const SEVEN = { lender: 'LENDER_07' }
const SIX = { lender: 'LENDER_06' }

t.test('a batch limits its questions to a gateway, and waits for the answers', async t => {
  const { gateways, service, has, asked, stateOf } = await withConfirm(t)
  const { webhook, batch } = service
  t.afterEach(() => gateways.put('/faults', []))

  t.test('a batch asks at most five times about one id, however many events name it', async t => {
    for (let n = 0; n < 30; n++)
      await webhook(B, paidB('41', { order: 'one', amount: n + 1 }), SEVEN)
    for (let n = 0; n < 30; n++) await webhook(B, paidB('42', { order: `order-${n}` }), SEVEN)
    await batch()
    t.equal((await asked('payments/41')).length, 1)
    t.equal((await asked('payments/42')).length, 5)
    await has(B, '42')
    await webhook(B, paidB('42'), SEVEN)
    for (let n = 0; n < 6; n++) await batch()
    t.same(await stateOf('42'), ['posted', null, null], 'its own order is asked for in its turn')
  })

  t.test('while a gateway cannot be asked, only what it is to confirm waits', async t => {
    await has(B, '51')
    for (const fault of [
      { kind: 'error', status: 503 },
      { kind: 'tooMany' },
      { kind: 'reset' },
      { kind: 'garbage' },
      { kind: 'error', status: 401 },
    ]) {
      await gateways.put('/faults', [{ ...fault, path: '/pg/' }])
      await webhook(B, paidB('51', { amount: 1000 }), SEVEN)
      await webhook(B, refundB({ id: '551', of: '51' }), SEVEN)
      const id = `pay_5_${fault.kind}_${'status' in fault ? fault.status : ''}`
      await has('gateway_a', id)
      await webhook('gateway_a', capturedA({ id, loan: 'L-6' }), SIX)
      t.match(await batch(), { status: 'completed' })
      t.same(await stateOf('51'), ['waiting', null, 'gateway'], fault.kind)
      t.same(await stateOf('551'), ['waiting', null, 'gateway'], fault.kind)
      t.same(await stateOf(id, 'gateway_a'), ['posted', null, null], fault.kind)
    }
  })

  t.test('a gateway that hangs holds up no other payment', async t => {
    await has(B, '54')
    await webhook(B, paidB('54'), SEVEN)
    await gateways.put('/faults', [{ kind: 'hang', path: '/pg/' }])
    await webhook('gateway_a', capturedA({ id: 'pay_52', loan: 'L-2' }), { lender: 'LENDER_02' })
    await batch()
    const hung = (await gateways.calls()).at(-1)
    const { payment } = await service.payment('pay_52')
    t.ok(Date.parse(payment.posted_at) < (hung?.at ?? 0) + 5_000, 'before the question times out')
    await gateways.put('/faults', [])
    await batch()
    t.same(await stateOf('54'), ['posted', null, null], 'and the next batch asks')
  })
})

t.test('a gateway that says when to ask again is not asked before', async t => {
  const { gateways, service, has, asked, stateOf } = await withConfirm(t)
  const { webhook, batch } = service
  await gateways.put('/faults', [{ kind: 'tooMany', retryAfter: '3600', path: '/pg/' }])
  await has(B, '53')
  await webhook(B, paidB('53'), SEVEN)
  await batch()
  await gateways.put('/faults', [])
  const before = (await asked('/pg/')).length
  await batch()
  t.equal((await asked('/pg/')).length, before)
  t.same(await stateOf('53'), ['waiting', null, 'gateway'])
})
