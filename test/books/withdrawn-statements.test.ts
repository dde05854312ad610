import { sql } from 'kysely'
import t from 'tap'
import { sweepWithdrawn } from '../../src/books/statements/sweep-withdrawn.ts'
import { fetchAll, gatewaySandbox, PAID_AT } from '../support/books/gateways.ts'
import { ALL_DAY, filled, reconciliation } from '../support/books/reconciliation.ts'
import { STATEMENT_HEADER, uploadStatement } from '../support/books/statements.ts'
import { uploadInParts } from '../support/http/upload-in-parts.ts'
import { paymentService } from '../support/payments/payments.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/until.ts'

type At = Pick<TestService, 'url' | 'call'>
const row = (id: string, amount: string, status = 'captured') =>
  `${id},${amount},INR,${status},2026-02-05T10:00:00+05:30,,,,,`

async function upload({ url }: At, rows: string[], name = 'february.csv'): Promise<string> {
  const csv = [STATEMENT_HEADER, ...rows].join('\n')
  const path = 'gateway_a/statement?lender=LENDER_02'
  const { status, body } = await uploadStatement(url, path, csv, name)
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body.statement_id
}

const withdraw = async ({ call }: At, id: string, gateway = 'gateway_a') =>
  (await call('DELETE', `/api/gateways/${gateway}/statements/${id}`)).status

const stated = async ({ db }: Pick<TestService, 'db'>) =>
  (
    await sql<object>`
      select gateway_payment_id as id, amount::text, status, source from ops.statement order by 1`.execute(
      db,
    )
  ).rows

t.test('a file can be withdrawn once, with its rows and days and a trace in the audit', async t => {
  const service = await startTestService(t)
  const id = await upload(service, [row('pay_typo', '1000.00')])
  t.match(await reconciliation(service.call), {
    days: [{ statement: 'complete', buckets: { missing: { payments: 1 } } }],
  })
  t.equal(await withdraw(service, id, 'gateway_b'), 404)
  t.equal(await withdraw(service, id), 204)
  t.equal(await withdraw(service, id), 404)
  t.same(await stated(service), [])
  t.same((await reconciliation(service.call)).days, [])
  const { rows } = await sql<object>`
    select action, subject from ops.audit where action like '%.withdraw'`.execute(service.db)
  t.same(rows, [{ action: 'statement.withdraw', subject: id }])
})

t.test('files are listed with who uploaded and who withdrew them', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const first = await upload(service, [row('pay_1', '1.00'), row('pay_2', 'x')])
  const second = await upload(service, [row('pay_3', '1.00')], 'march.csv')
  await withdraw(service, first)
  const path = '/api/gateways/gateway_a/statements'
  const { body } = await service.call('GET', `${path}?limit=1`)
  t.match(body.statements, [
    { statement_id: second, file_name: 'march.csv', withdrawn_by: null, withdrawn_at: null },
  ])
  const next = await service.call('GET', `${path}?limit=1&cursor=${body.next_cursor}`)
  t.match(next.body, {
    statements: [
      {
        statement_id: first,
        file_name: 'february.csv',
        rows: 2,
        valid_rows: 1,
        invalid_rows: 1,
        uploaded_by: 'internal-token',
        withdrawn_by: 'internal-token',
        withdrawn_at: /Z$/,
      },
    ],
    next_cursor: null,
  })
  t.equal((await service.call('GET', '/api/gateways/gateway_x/statements')).status, 404)
  t.same((await service.call('GET', '/api/gateways/gateway_b/statements')).body.statements, [])
  t.equal(await withdraw(service, 'no-id'), 404)
})

t.test('a later file replaces the rows of its own payments, and no others', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  await upload(service, [row('pay_1', '1000.00'), row('pay_2', '5.00')])
  await upload(service, [row('pay_1', '900.00', 'failed')])
  t.same(await stated(service), [
    { id: 'pay_1', amount: '900.00', status: 'failed', source: 'file' },
    { id: 'pay_2', amount: '5.00', status: 'captured', source: 'file' },
  ])
})

t.test('rows that a withdrawn file replaced stay away, and their day is partial', async t => {
  const gateways = await gatewaySandbox(t)
  const service = await paymentService(t, gateways.settings)
  await service.loan('L-1')
  await gateways.put('/payments', {
    gateway: 'gateway_a',
    id: 'pay_1',
    amount: 100_000,
    created_at: PAID_AT,
    notes: { loan_id: 'L-1' },
  })
  await fetchAll(service.call, 'gateway_a', ALL_DAY)
  await service.batch()
  await upload(service, [row('pay_2', '7.00')])
  const wrong = await upload(service, [row('pay_1', '9999.00'), row('pay_2', '8.00')])
  t.equal(await withdraw(service, wrong), 204)
  t.same(await stated(service), [])
  const { days } = await reconciliation(service.call)
  t.match(days, [{ statement: 'partial', captured: null }])
  t.same(filled(days[0]), { unchecked: '1 1000.00' })
  await fetchAll(service.call, 'gateway_a', ALL_DAY)
  t.match(await stated(service), [{ id: 'pay_1', amount: '1000.00', source: 'api' }])
  t.match((await reconciliation(service.call)).days, [{ statement: 'complete', balanced: false }])
})

t.test('a withdrawn file that said more than a later fetch leaves its day partial', async t => {
  const gateways = await gatewaySandbox(t)
  const service = await paymentService(t, gateways.settings)
  const payment = { gateway: 'gateway_a', id: 'pay_1', amount: 100_000, created_at: PAID_AT }
  await gateways.put('/payments', payment)
  const wrong = await upload(service, [row('pay_1', '1000.00', 'refunded')])
  await fetchAll(service.call, 'gateway_a', ALL_DAY)
  await service.batch()
  t.match(await stated(service), [{ status: 'refunded', source: 'file' }])
  t.equal(await withdraw(service, wrong), 204)
  t.match((await reconciliation(service.call)).days, [{ statement: 'partial' }])
  await fetchAll(service.call, 'gateway_a', ALL_DAY)
  t.match((await reconciliation(service.call)).days, [{ statement: 'complete' }])
})

t.test('a file that is withdrawn before its last byte has come completes no day', async t => {
  const service = await startTestService(t)
  const end = Promise.withResolvers<void>()
  const url = `${service.url}/api/gateways/gateway_a/statement?lender=LENDER_02`
  const first = `${STATEMENT_HEADER}\n${row('pay_1', '1.00')}`
  const uploading = uploadInParts(url, [first, ''], end.promise)
  const id = await until(async () => {
    const { rows } = await sql<{ id: string }>`
      select id from core.statement_file where rows = 1`.execute(service.db)
    return rows[0]?.id
  })
  t.equal(await withdraw(service, id), 204)
  end.resolve()
  t.equal((await uploading).status, 409)
  t.same(await stated(service), [])
  const { rows } = await sql`select from core.gateway_window`.execute(service.db)
  t.same(rows, [])
})

t.test('the rows of a withdrawn file do not count while they are not deleted yet', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const kept = await upload(service, [row('pay_kept', '7.00'), row('pay_both', '8.00')])
  const settled = (id: string) => row(id, '9.00').replace(/,,,,,$/, ',0.00,0.00,setl_1,,UTR1')
  const wrong = await upload(service, [settled('pay_wrong'), settled('pay_both')])
  t.match((await reconciliation(service.call)).days, [{ buckets: { missing: { payments: 3 } } }])
  t.equal(await withdraw(service, wrong), 204)
  t.equal(await countOf(service, wrong), 2)
  t.match(await stated(service), [{ id: 'pay_kept' }])
  t.same((await service.call('GET', '/api/settlements')).body.settlements, [])
  t.match((await reconciliation(service.call)).days, [{ buckets: { missing: { payments: 1 } } }])
  await sweepWithdrawn(service.db)
  t.same([await countOf(service, wrong), await countOf(service, kept)], [0, 1])
})

t.test('a file takes the place of rows of a withdrawn one that are not deleted yet', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const wrong = await upload(service, [row('pay_1', '9999.00', 'refunded')])
  await withdraw(service, wrong)
  const right = await upload(service, [row('pay_1', '10.00')])
  await sweepWithdrawn(service.db)
  t.match(await stated(service), [{ id: 'pay_1', amount: '10.00', status: 'captured' }])
  await withdraw(service, right)
  t.same((await reconciliation(service.call)).days, [])
})

t.test('a worker deletes all rows of a withdrawn file, also those beyond one step', async t => {
  const service = await startTestService(t)
  const rows = Array.from({ length: 2_001 }, (_, n) => row(`pay_${n}`, '1.00'))
  const id = await upload(service, rows)
  await withdraw(service, id)
  t.ok(await until(async () => (await countOf(service, id)) === 0, 'all rows are deleted'))
})

async function countOf({ db }: Pick<TestService, 'db'>, id: string): Promise<number | undefined> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from core.statement where statement_id = ${id}`.execute(db)
  return rows[0]?.count
}
