import { sql } from 'kysely'
import t from 'tap'
import { OPERATOR, startWithAccounts } from '../support/accounts/admin.ts'
import { STATEMENT_HEADER, uploadStatement } from '../support/books/statements.ts'
import { startDoomedApi } from '../support/doomed-api.ts'
import { uploadInParts } from '../support/http/upload-in-parts.ts'
import { crashPointsIn } from '../support/process.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/until.ts'

/** Several times what is saved at once. */
const ROWS = 10_000
const row = (id: string) => `${id},1.00,INR,captured,2026-02-05T10:00:00+05:30,,,,,`

t.test('a report whose rows were saved before a process died is in the audit', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const doomed = await startDoomedApi(t, service, 'statement.saved')
  const { promise, resolve } = Promise.withResolvers<void>()
  const url = `${doomed.url}/api/gateways/gateway_a/statement?lender=LENDER_02`
  const parts: [string, string] = [`${STATEMENT_HEADER}\n${row('pay_1')}`, row('pay_2')]
  const uploading = uploadInParts(url, parts, promise).catch(() => undefined)
  await doomed.ended
  resolve()
  await uploading
  t.same(crashPointsIn(doomed.said), ['statement.saved'])
  const { rows } = await sql<object>`
    select s.gateway_payment_id as id, a.actor, a.action, a.detail ->> 'file_name' as file
      from core.statement s
       join ops.audit a on a.subject = s.statement_id::text`.execute(service.db)
  const actor = 'internal-token'
  t.same(rows, [{ id: 'pay_1', actor, action: 'statement.begin', file: 'slow.csv' }])
})

t.test('a report is listed with the rows that were saved before a process died', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const doomed = await startDoomedApi(t, service, 'statement.saved')
  const csv = [STATEMENT_HEADER, ...Array.from({ length: ROWS }, (_, n) => row(`pay_${n}`))]
  const path = 'gateway_a/statement?lender=LENDER_02'
  await uploadStatement(doomed.url, path, csv.join('\n')).catch(() => undefined)
  await doomed.ended
  const { statements } = (await service.call('GET', '/api/gateways/gateway_a/statements')).body
  const [{ rows, valid_rows, invalid_rows }] = statements
  t.ok(rows > 0 && rows < ROWS)
  t.same({ valid_rows, invalid_rows }, { valid_rows: rows, invalid_rows: 0 })
})

t.test('an account that is disabled during a report’s upload saves no further row', async t => {
  const { db, url, call, admin, operator } = await startWithAccounts(t)
  const { promise, resolve } = Promise.withResolvers<void>()
  const saved = async () => {
    const { rows } = await sql<object>`select gateway_payment_id as id from core.statement`.execute(
      db,
    )
    return rows
  }
  const parts: [string, string] = [`${STATEMENT_HEADER}\n${row('pay_1')}`, row('pay_2')]
  const path = `${url}/api/gateways/gateway_a/statement?lender=LENDER_02`
  const uploading = uploadInParts(path, parts, promise, operator)
  await until(async () => (await saved()).length > 0, 'the first row is saved')
  await call('POST', `/api/account/${OPERATOR.username}/disable`, undefined, admin)
  resolve()
  t.equal((await uploading).status, 401)
  t.same(await saved(), [{ id: 'pay_1' }])
})

t.test('the end of an upload of a report that met a deadlock is tried again', async t => {
  const { db, url } = await startTestService(t, { ROLE: 'api' })
  await sql
    .raw(`
      create sequence public.tries;
      create function public.deadlock() returns trigger language plpgsql security definer as $$
      begin
        if nextval('public.tries') = 1 then raise deadlock_detected; end if;
        return new;
      end $$;
      create trigger deadlock before insert on core.gateway_window for each row execute function public.deadlock()`)
    .execute(db)
  const csv = `${STATEMENT_HEADER}\n${row('pay_1')}`
  const { status, body } = await uploadStatement(url, 'gateway_a/statement?lender=LENDER_02', csv)
  t.equal(status, 201)
  const { rows } = await sql<object>`
    select detail ->> 'valid_rows' as valid from ops.audit
     where action = 'gateway.statement' and subject = ${body.statement_id}`.execute(db)
  t.same(rows, [{ valid: '1' }])
})
