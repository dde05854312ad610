import { parse } from 'node-html-parser'
import t from 'tap'
import { startWithConsole } from '../support/console/console.ts'
import { runBatch } from '../support/console/console-data.ts'
import { capturedA } from '../support/payments/gateway-events.ts'

t.test('each figure of the books leads to exactly the payments that it counts', async t => {
  const { url, call, operator } = await startWithConsole(t)
  const now = Math.floor(Date.now() / 1_000)
  const payments: [string, object][] = [
    ['pay_inr_1', {}],
    ['pay_inr_2', {}],
    ['pay_usd', { currency: 'USD' }],
    ['pay_unreadable', { amount: 'much', currency: null }],
  ]
  for (const [id, payment] of payments) {
    const event = capturedA({ id, payment: { created_at: now, ...payment } })
    await call('POST', '/api/webhooks/gateway_a?lender=LENDER_02', event)
  }
  await runBatch(url)
  const books = parse((await operator('/console/books')).text)
  const figures = books.querySelectorAll('td a[href*="bucket="]')
  t.same(figures.map(({ text }) => text.replace(/:.*/, '')).sort(), ['1', '1', '2'])
  for (const figure of figures) {
    const list = parse((await operator(figure.getAttribute('href') ?? '')).text)
    const counted = Number(figure.text.split(':')[0])
    t.equal(list.querySelectorAll('tbody tr').length, counted, figure.text)
  }
})
