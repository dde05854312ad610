import { parse } from 'csv-parse/sync'
import t from 'tap'
import { readBack } from './support/books/readback.ts'
import { callbackReceiver } from './support/callbacks/callback-receiver.ts'
import { startWithConsole } from './support/console/console.ts'
import { capturedA } from './support/payments/gateway-events.ts'
import { withLedger } from './support/payments/payments.ts'
import { EXTERNAL_IDS } from './support/portfolio/external-ids.ts'
import { migrateCsv } from './support/portfolio/migrate.ts'
import { loansCsv, repaymentsCsv } from './support/portfolio/rows.ts'
import { until } from './support/until.ts'

const loans = EXTERNAL_IDS.map(kind => kind('L1'))
const clients = EXTERNAL_IDS.map(kind => kind('C1'))
const count = loans.length

t.test('external ids of every kind pass through every feature', async t => {
  const los = await callbackReceiver(t)
  const service = withLedger(await startWithConsole(t, los.settings))
  const { call, operator } = service
  const get = async (path: string) => (await call('GET', path)).body
  const capture = (id: string, loan: string, more = {}) =>
    service.webhook('gateway_a', capturedA({ id, loan, ...more }), { lender: 'LENDER_02' })
  const reported = (id: string) =>
    until(async () => los.received.find(({ body }) => body.data.gateway_payment_id === id && body))

  await t.test('a portfolio with any external ids is created and found in the ledger', async t => {
    const file = loansCsv(
      ...loans.map((loan_external_id, n) => ({
        loan_external_id,
        client_external_id: clients[n] as string,
      })),
    )
    t.match(await migrateCsv(service, 'loans', file), { done: count, failed: 0 })
    t.match(await migrateCsv(service, 'loans', file, { dry_run: true }), {
      dry_run: { in_ledger: count },
    })
    const paid = repaymentsCsv(
      ...loans.map((loan_external_id, n) => ({ loan_external_id, payment_reference: `p-${n}` })),
    )
    t.match(await migrateCsv(service, 'repayments', paid), { done: count, failed: 0 })
  })

  await t.test('a payment whose notes have any external id is posted and read back', async t => {
    for (const [n, loan] of loans.entries()) await capture(`pay_${n}`, loan)
    await service.batch()
    for (const [n, loan] of loans.entries()) {
      t.match((await service.payment(`pay_${n}`)).payment, {
        state: 'posted',
        external_loan_id: loan,
      })
      const { status, body } = await call('POST', `/api/payments/gateway_a/pay_${n}/check`)
      t.match([status, body.reason], [200, null], loan)
    }
    t.match(await readBack(service.db), {
      loans: count,
      payments: count,
      reversed: 0,
      missing: 0,
      differing: 0,
      failed: 0,
    })
  })

  await t.test('a payment in suspense is assigned to a loan with any external id', async t => {
    for (const n of loans.keys()) await capture(`pay_lost_${n}`, 'nothing')
    await service.batch()
    for (const [n, loan] of loans.entries())
      t.equal((await service.assign(`pay_lost_${n}`, loan)).status, 200)
    await service.batch()
    for (const [n, loan] of loans.entries())
      t.match((await service.payment(`pay_lost_${n}`)).payment, {
        state: 'posted',
        external_loan_id: loan,
      })
  })

  await t.test('callbacks name an external id that an operation named, posted or not', async t => {
    for (const [n, loan] of loans.entries())
      await capture(`pay_usd_${n}`, loan, { currency: 'USD' })
    await capture('pay_stranger', 'Asha Rao')
    await service.batch()
    for (const [n, loan] of loans.entries()) {
      t.match(await reported(`pay_${n}`), { body: { data: { external_loan_id: loan } } })
      t.match(await reported(`pay_usd_${n}`), {
        body: { type: 'payment.suspended', data: { external_loan_id: loan } },
      })
      const subject = encodeURIComponent(`loan:${loan}`)
      const { callbacks } = await get(`/api/callbacks?subject=${subject}`)
      t.ok(callbacks.length > 1, loan)
    }
    t.match(await reported('pay_stranger'), { body: { data: { external_loan_id: null } } })
  })

  await t.test('lists are filtered by any external id, and export it', async t => {
    for (const [n, loan] of loans.entries()) {
      const id = encodeURIComponent(loan)
      const { operations } = await get(`/api/ledger/operations?external_id=${id}`)
      t.same(operations, [], 'those of a portfolio are no callers’')
      const { payments } = await get(`/api/payments?loan=${id}&state=posted`)
      t.same(new Set(payments.map((one: any) => one.external_loan_id)), new Set([loan]))
      for (const path of [`payments.csv?loan=${id}`, `operations.csv?external_id=${id}`]) {
        const { text } = await operator(`/console/${path}`)
        const rows: any[] = parse(text, { columns: true, bom: true })
        const named = rows.map(row => row.external_loan_id ?? row.external_id)
        t.same(new Set(named), new Set([loan]), path)
      }
      const { text } = await operator(`/console/payments?loan=${id}`)
      t.match(text, `href="/console/loans/${id.replaceAll("'", '&#39;')}"`, `pay_${n}`)
    }
  })

  await t.test('the console finds any external id, and shows what the ledger has', async t => {
    for (const [kind, ids] of Object.entries({ loans, clients }))
      for (const id of ids) {
        const found = await operator(`/console/search?q=${encodeURIComponent(id)}`)
        const page = found.headers.get('location') ?? ''
        t.equal(page, `/console/${kind}/${encodeURIComponent(id)}`)
        const { status, text } = await operator(`${page}?ledger=now`)
        t.equal(status, 200, id)
        t.match(text, 'Id at the ledger', id)
        t.match(text, /<ul class="timeline">/, id)
      }
  })
})
