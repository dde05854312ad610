import { createHmac } from 'node:crypto'
import { createRequire } from 'node:module'
import t from 'tap'
import { gatewayA } from '../../../src/payments/gateways/gateway-a/gateway-a.ts'
import { gatewayB } from '../../../src/payments/gateways/gateway-b/gateway-b.ts'
import { signedA, signedB } from '../../support/payments/gateway-events.ts'

const require = createRequire(import.meta.url)
const BODY = '{"event":"payment.captured","amount":170.00,"name":"आशा"}'
const a = gatewayA.rules({
  GATEWAY_A_SIGNATURE_HEADER: 'X-GatewayA-Signature',
  GATEWAY_A_EVENT_ID_HEADER: 'X-GatewayA-Event-Id',
})
const b = gatewayB.rules()

t.test('a signature is accepted if, and only if, Razorpay’s own SDK accepts it', async t => {
  const { validateWebhookSignature } = require('razorpay/dist/utils/razorpay-utils')
  for (const body of [BODY, '{}', `${BODY} `]) {
    for (const secret of ['s', 'wrong']) {
      const headers = signedA('s', body)
      const theirs = validateWebhookSignature(body, headers['x-gatewaya-signature'], secret)
      t.equal(a.isSigned(secret, Buffer.from(body), headers), theirs, `${secret} ${body}`)
      t.equal(theirs, secret === 's')
    }
  }
})

/** With analytics, it reports to Cashfree, and traces every HTTP call of this process from then on. */
const NEITHER_PARTNER_NOR_ANALYTICS = ['', '', '', false]

t.test('a signature is accepted if, and only if, Cashfree’s own SDK accepts it', async t => {
  const { Cashfree, CFEnvironment } = require('cashfree-pg')
  const body = JSON.stringify({ type: 'X', data: { payment: { cf_payment_id: '1' } } })
  const takes = (secret: string, headers: Record<string, string>) => {
    try {
      const sdk = new Cashfree(
        CFEnvironment.SANDBOX,
        'id',
        secret,
        ...NEITHER_PARTNER_NOR_ANALYTICS,
      )
      const { 'x-webhook-signature': signature, 'x-webhook-timestamp': time } = headers
      sdk.PGVerifyWebhookSignature(signature, body, time)
      return true
    } catch {
      return false
    }
  }
  for (const secret of ['s', 'wrong']) {
    const headers = signedB('s', body)
    t.equal(b.isSigned(secret, Buffer.from(body), headers), takes(secret, headers))
  }
  t.ok(takes('s', signedB('s', body)))
})

t.test('nothing but the right bytes by the right secret is a signature', async t => {
  const body = Buffer.from(BODY)
  const right = signedA('s', BODY)['x-gatewaya-signature']
  for (const given of [
    '',
    right.slice(1),
    `${right}0`,
    `0x${right}`,
    right.replace(/./, 'g'),
    undefined,
  ]) {
    const headers = given === undefined ? {} : { 'x-gatewaya-signature': given }
    t.equal(a.isSigned('s', body, headers), false, String(given))
  }
  t.equal(a.isSigned('s', body, { 'x-gatewaya-signature': [right, right] }), false)
  const plain = createHmac('sha256', 's').update(body).digest('base64')
  t.equal(b.isSigned('s', body, { 'x-webhook-signature': plain }), false, 'no time stamp')
  for (const time of ['', ' '])
    t.equal(b.isSigned('s', body, signedB('s', BODY, time)), false, `the time stamp "${time}"`)
  const dotted = createHmac('sha256', 's').update('1.').update(body).digest('base64')
  const headers = { 'x-webhook-signature': dotted, 'x-webhook-timestamp': '1' }
  t.equal(b.isSigned('s', body, headers), false, 'a dot between')
})

t.test('the lenders that an event names are sought in a bounded part of it', async t => {
  const part = { entity: { notes: { lender: 'LENDER_02' } } }
  t.same(a.lenders({ payload: { payment: part } }), ['LENDER_02'])
  t.same(a.lenders({ payload: 'a long text' }), [])
  t.same(a.lenders({ payload: [part] }), [])
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`part_${n}`, part]))
  t.equal(a.lenders({ payload: many }).length, 20)
})
