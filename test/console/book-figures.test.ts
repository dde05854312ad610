import { sql } from 'kysely'
import { parse } from 'node-html-parser'
import t from 'tap'
import { startWithConsole } from '../support/console/console.ts'
import { capturedA } from '../support/payments/gateway-events.ts'
import { runBatch } from '../support/payments/payments.ts'

t.test('each figure of the books leads to exactly the payments that it counts', async t => {
  const { call, operator } = await startWithConsole(t)
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
  await runBatch(call)
  const books = parse((await operator('/console/books')).text)
  const figures = books.querySelectorAll('td a[href*="bucket="]')
  t.same(figures.map(({ text }) => text.replace(/:.*/, '')).sort(), ['1', '1', '2'])
  for (const figure of figures) {
    const list = parse((await operator(figure.getAttribute('href') ?? '')).text)
    const counted = Number(figure.text.split(':')[0])
    t.equal(list.querySelectorAll('tbody tr').length, counted, figure.text)
  }
})

t.test('each row of the books is on one of their pages, which are all short', async t => {
  const { db, operator } = await startWithConsole(t)
  const path = '/console/books?from=2026-01-01&to=2026-01-31'
  // A day of 209 rows, and 30 days of nine.
  await sql`
    insert into core.statement (gateway, gateway_payment_id, lender, amount, currency, status, captured_at, source)
    select 'gateway_a', 'pay_' || row_number() over (), 'LENDER_' || lender, 1234.56, 'INR', 'captured', day, 'api'
      from generate_series(timestamptz '2026-01-01T12:00:00Z', '2026-01-31T12:00:00Z', '1 day') day
     cross join lateral generate_series(1, case date_part('day', day) when 20 then 209 else 9 end) lender`.execute(
    db,
  )
  const pages = []
  for (let next: string | undefined = path; next !== undefined; ) {
    const { status, text }: { status: number; text: string } = await operator(next)
    t.equal(status, 200, next)
    t.ok(text.length < 500_000, next)
    const page = parse(text)
    pages.push(page.querySelectorAll('tbody tr').map(row => row.querySelector('td')?.text ?? ''))
    const to = new URL(next, 'http://x').searchParams.get('to')
    next = page.querySelector('a[rel=next]')?.attributes.href
    // The export of a page of older days lacks the newer ones.
    if (next !== undefined)
      t.match(text, `rows from 2026-01-01 to ${to} are shown. The export has all of these days.`)
  }
  t.ok(pages.every(({ length }) => length <= 200))
  const shown = pages.flat()
  t.same(shown, shown.toSorted().reverse())
  const days = Map.groupBy(shown, day => day)
  t.equal(days.size, 31)
  for (const [day, { length }] of days) t.equal(length, day === '2026-01-20' ? 200 : 9, day)
})

t.test('the books say of filtered days only what is so of the days that they show', async t => {
  const { call, operator } = await startWithConsole(t)
  const now = Math.floor(Date.now() / 1_000)
  const event = capturedA({ payment: { created_at: now } })
  await call('POST', '/api/webhooks/gateway_a?lender=LENDER_02', event)
  await runBatch(call)
  const { text } = await operator('/console/books?lender=lender_02')
  t.match(text, /No payment of this lender or gateway was made on these days/)
})
