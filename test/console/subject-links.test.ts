import t from 'tap'
import { subjectLink } from '../../src/console/audit/subject-link.ts'
import { callbackSubject } from '../../src/console/callbacks/subject-of.ts'

t.test('the subject of a callback or an action is linked, whatever characters its id has', t => {
  for (const [subject, path] of [
    ['loan:LN/2026: 1', 'loans/LN%2F2026%3A%201'],
    ['client:ऋ?', 'clients/%E0%A4%8B%3F'],
    ['payment:gateway_a/pay/1#2', 'payments/gateway_a/pay%2F1%232'],
  ])
    t.match(String(callbackSubject(subject as string)), `href="/console/${path}"`)
  t.match(
    String(subjectLink('payment.note', 'gateway_a/pay/1#2')),
    'href="/console/payments/gateway_a/pay%2F1%232"',
  )
  t.end()
})
