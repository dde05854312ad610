import { connect } from 'node:net'
import { sql } from 'kysely'
import t from 'tap'
import { type Bearer, OPERATOR, startWithAccounts } from '../support/accounts/admin.ts'
import { untilSessionsWait } from '../support/database/sessions.ts'
import { textOf, uploadCsv } from '../support/portfolio/migrate.ts'
import { LOAN_COLUMNS, REPAYMENT_COLUMNS } from '../support/portfolio/portfolio.ts'
import { repaymentsCsv } from '../support/portfolio/rows.ts'
import { startTestService, type TestService, TOKEN } from '../support/service.ts'

t.test('the templates are valid files with the documented columns in order', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  for (const [type, columns] of [
    ['loans', LOAN_COLUMNS],
    ['repayments', REPAYMENT_COLUMNS],
  ] as const) {
    const template = await textOf(service, `/api/migration/templates/${type}.csv`)
    t.equal(template.split('\r\n')[0], columns)
    const { status, body } = await uploadCsv(service, type, template)
    t.equal(status, 201)
    t.match(body, { type, status: 'uploaded', rows: 1, valid_rows: 1, errors: [] })
  }
  const none = await service.call('GET', '/api/migration/templates/clients.csv')
  t.equal(none.status, 400)
})

t.test('slow uploads do not hold up other requests', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const slow = Array.from({ length: 12 }, () => {
    const socket = connect(Number(new URL(service.url).port))
    socket.on('error', () => undefined)
    socket.write(
      [
        'POST /api/migration/upload HTTP/1.1',
        'host: loanops',
        `x-internal-token: ${TOKEN}`,
        'content-type: multipart/form-data; boundary=B',
        'content-length: 1000000',
        '',
        '--B',
        'content-disposition: form-data; name="type"',
        '',
        'repayments',
        '--B',
        'content-disposition: form-data; name="file"; filename="slow.csv"',
        '',
        repaymentsCsv({}),
      ].join('\r\n'),
    )
    return socket
  })
  // After these calls, the service has received all of the slow requests.
  for (let round = 0; round < 20; round++) await service.call('GET', '/healthz')
  const event = await service.call('POST', '/api/webhooks/gateway_a?lender=LENDER_02', {
    event: 'payment.captured',
  })
  t.equal(event.status, 200)
  for (const socket of slow) socket.destroy()
})

t.test(
  'an upload leaves the planner with current statistics, though the service does not own the table',
  async t => {
    const service = await startTestService(t, { ROLE: 'api' })
    await uploadCsv(service, 'repayments', repaymentsCsv({}))
    const { rows } = await sql`
    select from pg_class
     where oid = 'loanops.migration_row'::regclass and reltuples > 0`.execute(service.db)
    t.equal(rows.length, 1)
  },
)

t.test('rows are checked against each other on connections that allow long statements', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  await uploadCsv(service, 'repayments', repaymentsCsv({}))
  const { rows } = await sql`
    select from pg_stat_activity
     where datname = current_database()
       and application_name = 'loanops-migration'`.execute(service.db)
  t.ok(rows.length > 0, 'migrations have connections of their own')
})

t.test('a request that is not a valid upload is refused', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const post = async (...parts: [string, string | Blob][]) => {
    const form = new FormData()
    for (const [name, value] of parts) form.append(name, value as string)
    const response = await fetch(`${service.url}/api/migration/upload`, {
      method: 'POST',
      body: form,
      headers: { 'x-internal-token': TOKEN },
    })
    const body = (await response.json()) as any
    return [response.status, body.code, body.errors?.[0]?.path]
  }
  const file = new Blob([repaymentsCsv({})])
  const { count } = await uploads(service)
  const typed: [string, string] = ['type', 'repayments']
  t.same(await post(typed, ['file', file], ['x', '']), [400, 'INVALID_PAYLOAD', '/x'])
  t.same(await post(typed, ['file', file], ['file', file]), [400, 'INVALID_PAYLOAD', '/file'])
  t.same(await post(typed, typed, ['file', file]), [400, 'INVALID_PAYLOAD', '/type'])
  t.equal((await uploads(service)).count, count, 'nothing of them is stored')
  t.same(await post(['type', 'clients'], ['file', file]), [400, 'INVALID_PAYLOAD', '/type'])
  t.same(await post(['file', file]), [400, 'INVALID_PAYLOAD', '/type'])
  t.same(await post(['type', 'loans']), [400, 'INVALID_PAYLOAD', '/file'])
  t.same(await post(['kind', 'loans']), [400, 'INVALID_PAYLOAD', '/kind'])
  t.same(await post(['type', 'loans'], ['csv', file]), [400, 'INVALID_PAYLOAD', '/csv'])
  t.equal((await service.call('POST', '/api/migration/upload', {})).status, 415)
  const large = new Blob([`${REPAYMENT_COLUMNS}x\n`, new Uint8Array(8 * 1024 * 1024)])
  t.same(await post(['type', 'repayments'], ['file', large]), [400, 'INVALID_PAYLOAD', '/file'])
})

async function uploads({ db }: TestService) {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from loanops.migration`.execute(db)
  return rows[0] ?? { count: 0 }
}

t.test('an account that is disabled during an upload adds no migration', async t => {
  const { db, operator, ...service } = await startWithAccounts(t)
  await sql
    .raw(`
      create function public.disable() returns trigger language plpgsql security definer as $$
      begin update loanops.account set disabled_at = now(); return new; end $$;
      create trigger disable after insert on loanops.migration for each row execute function public.disable()`)
    .execute(db)
  const { status } = await uploadAs(operator, service, repaymentsCsv({}))
  t.equal(status, 401)
  t.same((await service.call('GET', '/api/migration')).body.migrations, [])
})

t.test('an account can be disabled while a file of it is checked', async t => {
  const { db, operator, admin, ...service } = await startWithAccounts(t)
  await sql
    .raw(`
      create function public.hold() returns trigger language plpgsql as $$
      begin perform pg_advisory_xact_lock_shared(1); return new; end $$;
      create trigger hold before update on loanops.migration_row
        for each row when (new.state = 'invalid') execute function public.hold()`)
    .execute(db)
  const held = await db.transaction().execute(async trx => {
    await sql`select pg_advisory_xact_lock(1)`.execute(trx)
    const uploading = uploadAs(operator, service, repaymentsCsv({}, {}))
    await untilSessionsWait(db)
    const path = `/api/account/${OPERATOR.username}/disable`
    t.equal((await service.call('POST', path, undefined, admin)).status, 204)
    return { uploading }
  })
  t.equal((await held.uploading).status, 401)
  t.same((await service.call('GET', '/api/migration')).body.migrations, [])
})

function uploadAs(bearer: Bearer, { url }: { url: string }, csv: string): Promise<Response> {
  const form = new FormData()
  form.set('type', 'repayments')
  form.set('file', new Blob([csv]), 'r.csv')
  const headers = { 'x-internal-token': TOKEN, ...bearer }
  return fetch(`${url}/api/migration/upload`, { method: 'POST', body: form, headers })
}
