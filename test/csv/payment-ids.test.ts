import t from 'tap'
import { damageOf } from '../../src/csv/damaged-ids.ts'

t.test('an id as the gateways issue them is no damaged one', t => {
  const issued = [
    'pay_29QQoUBi66xm2f',
    'pay_DESlfW9H8K9uqM',
    '1453002795',
    '5114919655',
    '12345678901234567890',
    'CFPay_u36o.2-b',
    '2026-02-05-123',
    'TRUE1',
    'pay w2',
  ]
  for (const id of issued) t.equal(damageOf(id, 'paymentIds'), undefined, id)
  t.end()
})

t.test('a text that cannot be the id of a gateway’s payment says why', t => {
  const damaged: [what: RegExp, ...ids: string[]][] = [
    [
      /^has full-width characters or dashes/,
      'ｐａｙ＿２９ＱＱ',
      'pay–29QQ',
      '５１１４９１９６５５',
      'pay−29',
    ],
    [/^has letters of another alphabet/, 'pаy_29QQ'],
    [/^has more than one payment’s id/, 'pay_1, pay_2', 'pay_1 pay_2', 'PAY_1-pay_2'],
    [/^is a date/, '2024-02-12', '2024-02-12 10', '12-Mar'],
    [/^is not of the form of a payment’s id: enter the one id/, 'order_16', 'rfnd_29QQ', 'TRUE'],
    [
      /^has characters that the gateways’ payment ids lack/,
      ...['pay_1 (UPI)', '#pay_1', 'pay_1.', 'pay_Iñ1', '5114919655*', '12:30:00', '1/2', '₹100'],
      ...['https://dashboard.razorpay.com/app/payments/pay_7', '5114919655/5114919656', '+511'],
    ],
  ]
  for (const [what, ...ids] of damaged)
    for (const id of ids) t.match(damageOf(id, 'paymentIds'), what, id)
  t.end()
})

t.test('other ids may have any characters but those that replace ordinary ones', t => {
  const sound = ['ऋण-१', '😀', 'a?b=c', 'order–ऋण', 'IMPS/P2A/4023', 'order_16', 'asha@upi']
  for (const id of sound) t.equal(damageOf(id, 'ids'), undefined, id)
  for (const id of ['ｏｒｄｅｒ＿１', 'order–1', 'N402—1'])
    t.match(damageOf(id, 'ids'), /^has full-width characters or dashes/, id)
  t.match(damageOf('оrder_1', 'ids'), /^has letters of another alphabet/)
  t.end()
})
