import { sql } from 'kysely'
import t from 'tap'
import { ADMIN, bearer, OPERATOR } from '../support/accounts/admin.ts'
import { startWithConsole, VIEWER } from '../support/console/console.ts'
import { fillConsole } from '../support/console/console-data.ts'
import { consoleRoutes } from '../support/console/console-routes.ts'
import { clientData } from '../support/ledger/loans.ts'
import { runBatch } from '../support/payments/payments.ts'
import { uploadCsv } from '../support/portfolio/migrate.ts'

const FILE =
  'loan_external_id,transaction_date,amount,payment_reference,gateway,note\nL-1001,01 February 2026,100.00,REF-1,,'
const REPLAY = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z', state: 'failed' }
const PAUSE = { reason: 'close of business' }

const service = await startWithConsole(t, { DOCS_ENABLED: 'true' })
const { url, db, call, admin, operator, viewer } = service
await fillConsole(url)
const authorization = await bearer(call, OPERATOR)
const api = (path: string, body?: object) => call('POST', `/api/${path}`, body, authorization)
const form = (path: string, fields = {}) => operator(`/console/${path}`, fields)
// Nobody tries an operation before it is cancelled.
await call('POST', '/api/ledger/pause', PAUSE)
const untried = async (n: number) => {
  const data = clientData(`C-${n}`)
  const { body } = await call('POST', '/api/ledger/operate', { status: 'CLIENT_CREATE', data })
  return `operations/${encodeURIComponent(body.tracking_id)}`
}
const hanging = async (n: number) => {
  const path = await untried(n)
  const id = decodeURIComponent(path).split('|')[1]
  await sql`
    update loanops.operation set attempts = 1, waiting_for = 'ledger_approval'
     where id = ${id}`.execute(db)
  return path
}
const migration = async () => (await uploadCsv({ url }, 'repayments', FILE)).body.migration_id
const posted = 'payments/gateway_a/pay_posted'

const both: Record<string, (() => Promise<{ status: number }>)[]> = {
  'payment.check': [() => api(`${posted}/check`), () => form(`${posted}/check`)],
  'payment.note': [
    () => api(`${posted}/note`, { note: 'asked' }),
    () => form(`${posted}/note`, { note: 'asked' }),
  ],
  'payment.assign': [
    () => api('payments/gateway_a/pay_nobody/assign', { external_loan_id: 'L-1' }),
    () => form('payments/gateway_a/pay_unknown_loan/assign', { external_loan_id: 'L-1' }),
  ],
  'ledger.pause': [() => api('ledger/pause', PAUSE), () => form('pause', PAUSE)],
  'batch.request': [() => api('payments/batch'), () => form('batch')],
  'ledger.check': [() => api('ledger/check'), () => form('ledger/check')],
  'operation.cancel': [
    async () => api(`ledger/${await untried(1)}/cancel`),
    async () => form(`${await untried(2)}/cancel`),
  ],
  'operation.resolve': [
    async () => api(`ledger/${await hanging(3)}/resolve`, { outcome: 'retry' }),
    async () => form(`${await hanging(4)}/resolve`, { outcome: 'retry' }),
  ],
  'callback.replay': [
    () => api('callbacks/replay', REPLAY),
    () => form('callbacks/replay', REPLAY),
  ],
  'callback.resume': [() => api('callbacks/resume'), () => form('callbacks/resume')],
  'migration.discard': [
    async () => call('DELETE', `/api/migration/${await migration()}`, undefined, authorization),
    async () => form(`portfolio/${await migration()}/discard`),
  ],
  'migration.cancel': [
    async () => api(`migration/${await running(await migration())}/cancel`),
    async () => form(`portfolio/${await running(await migration())}/cancel`),
  ],
  'migration.run': [
    async () => api('migration/run', { migration_id: await migration() }),
    async () => form(`portfolio/${await migration()}/run`),
  ],
}
for (const [action, [viaApi, viaConsole]] of Object.entries(both))
  t.test(`API and console write the same audit entry of ${action}`, async t => {
    const told = async (act?: () => Promise<{ status: number }>) => {
      const before = await audited()
      const { status = 500 } = (await act?.()) ?? {}
      t.ok(status < 400, `${status}`)
      return (await audited()).slice(before.length).filter(one => one.action === action)
    }
    const byApi = await told(viaApi)
    t.equal(byApi.length, 1, 'by the API')
    t.same(await told(viaConsole), byApi, 'by the console')
  })

t.test('requeuing jobs and reading events again are audited with their actor', async t => {
  const again = { source: 'lender_02_gateway_a', since: '2026-01-01T00:00' }
  t.equal((await viewer('/console/sources/reread', again)).status, 403)
  const reread = await operator('/console/sources/reread', again)
  t.equal(reread.status, 303)
  t.match(reread.headers.get('location'), /done=rereadNone$/, 'there is no such event')
  await sql`
    insert into raw.lender_02_gateway_a (event_type, body) values ('x', '{"event": "x"}')`.execute(
    db,
  )
  await runBatch(call)
  const unread = await operator('/console/sources/reread', again)
  t.match(unread.headers.get('location'), /done=reread$/)
  t.equal((await operator('/console/sources/reread', { ...again, source: 'x' })).status, 404)
  const queue = 'payment-event-dead'
  t.equal((await operator('/console/sources/redrive', { queue })).status, 303)
  const { rows } = await sql`
    select actor, action, subject, detail from ops.audit
     where action in ('source.reread', 'queue.redrive') order by at`.execute(db)
  t.same(rows, [
    {
      actor: 'asha.rao',
      action: 'source.reread',
      subject: 'lender_02_gateway_a',
      detail: { since: '2025-12-31T18:30:00.000Z', events: 0 },
    },
    {
      actor: 'asha.rao',
      action: 'source.reread',
      subject: 'lender_02_gateway_a',
      detail: { since: '2025-12-31T18:30:00.000Z', events: 1 },
    },
    { actor: 'asha.rao', action: 'queue.redrive', subject: queue, detail: { jobs: 0 } },
  ])
})

t.test('whoever reads personal data in bulk, or as it came, is in the audit', async t => {
  const payment = `${posted}?bodies=true`
  const days = { from: '2026-02-01', to: '2026-02-28' }
  const range = new URLSearchParams(days).toString()
  for (const [read, entry] of [
    [`payments.csv?gateway=gateway_a`, export_('payments.csv', { gateway: 'gateway_a' })],
    [`books.csv?${range}`, export_('books.csv', days)],
    [
      payment,
      { action: 'payment.read', subject: 'gateway_a/pay_posted', detail: { bodies: true } },
    ],
    ['loans/L-1001?ledger=now', { action: 'loan.read', subject: 'L-1001' }],
    ['clients/C-1001?ledger=now', { action: 'client.read', subject: 'C-1001' }],
  ] as const) {
    t.equal((await viewer(`/console/${read}`)).status, 200, read)
    t.match(await lastRead(), { actor: VIEWER.username, address: '127.0.0.1', ...entry }, read)
  }
  for (const [read, entry] of [
    [
      payment,
      { action: 'payment.read', subject: 'gateway_a/pay_posted', detail: { bodies: true } },
    ],
    [`reconciliation.csv?${range}`, export_('reconciliation.csv', days)],
  ] as const) {
    t.equal((await call('GET', `/api/${read}`, undefined, authorization)).status, 200, read)
    t.match(await lastRead(), { actor: OPERATOR.username, ...entry }, read)
  }
  await viewer(`/console/${posted}`)
  await viewer('/console/loans/L-1001')
  t.match(await lastRead(), { subject: 'reconciliation.csv' }, 'other pages leave no trace')
  t.notMatch((await viewer(`/console/${posted}`)).text, /payment read/)
})

t.test('every file of the console but a template is an export in the audit', async t => {
  for (const { url: path = '' } of await consoleRoutes()) {
    if (!path.endsWith('.csv') || /template|errors|findings|statement/.test(path)) continue
    const query = path.includes('bucket') ? '?day=2026-02-05&bucket=posted' : ''
    t.equal((await admin(path + query)).status, 200, path)
    const subject = path.slice('/console/'.length)
    t.match(await lastRead(), { action: 'list.export', actor: ADMIN.username, subject })
  }
})

t.test('every file of the API but a template is an export in the audit', async t => {
  const { paths } = (await call('GET', '/openapi.json')).body
  const files = Object.keys(paths).filter(
    path => path.endsWith('.csv') && !/template|errors|findings/.test(path),
  )
  t.ok(files.length > 1)
  for (const path of files) {
    t.equal((await call('GET', path, undefined, authorization)).status, 200, path)
    const subject = path.slice('/api/'.length)
    t.match(await lastRead(), { action: 'list.export', actor: OPERATOR.username, subject })
  }
})

const export_ = (subject: string, detail: object) => ({ action: 'list.export', subject, detail })

async function lastRead() {
  const { rows } = await sql`
    select actor, host(address) as address, action, subject, detail from ops.audit
     where action ~ '[.](read|export)$' order by at desc, id desc limit 1`.execute(db)
  return rows[0]
}

async function running(id: string): Promise<string> {
  await call('POST', '/api/migration/run', { migration_id: id })
  return id
}

async function audited() {
  const { rows } = await sql<{ action: string }>`
    select actor, action, array(select jsonb_object_keys(detail) order by 1) as told from ops.audit
     where actor = ${OPERATOR.username} order by at, id`.execute(db)
  return rows
}
