import { sql } from 'kysely'
import t from 'tap'
import type { Database } from '../../../src/database/database.ts'
import { OPERATOR, startWithAccounts } from '../../support/accounts/admin.ts'
import { startDoomedApi } from '../../support/doomed-api.ts'
import { uploadInParts } from '../../support/http/upload-in-parts.ts'
import { crashPointsIn } from '../../support/process.ts'
import { startTestService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const HEADER = 'gateway,kind,value,external_loan_id,valid_from,valid_until'
const row = (value: string) => `gateway_a,virtual_account,${value},L-1,,`

/** The rows come one after the other. */
const upload = (url: string, next: Promise<void>, headers?: object) =>
  uploadInParts(
    `${url}/api/references/upload`,
    [`${HEADER}\n${row('va_1')}`, row('va_2')],
    next,
    headers,
  )

async function saved(db: Database) {
  const { rows } = await sql<{ value: string }>`
    select value from ops.reference order by 1`.execute(db)
  return rows.map(({ value }) => value)
}

async function audited(db: Database) {
  const { rows } = await sql<object>`
    select action, actor, subject, detail ->> 'valid_rows' as valid_rows
      from ops.audit where action in ('reference.begin', 'reference.upload')
       order by id`.execute(db)
  return rows
}

t.test('the references that a process saved before it died are in the audit', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const { db } = service
  const doomed = await startDoomedApi(t, service, 'reference.saved')
  const { promise, resolve } = Promise.withResolvers<void>()
  const uploading = upload(doomed.url, promise).catch(() => undefined)
  await doomed.ended
  resolve()
  await uploading
  t.same(crashPointsIn(doomed.said), ['reference.saved'])
  t.same(await saved(db), ['va_1'])
  t.same(await audited(db), [
    { action: 'reference.begin', actor: 'internal-token', subject: 'slow.csv', valid_rows: null },
  ])
})

t.test('an account that is disabled during an upload saves no further reference', async t => {
  const { db, url, call, admin, operator } = await startWithAccounts(t)
  const { promise, resolve } = Promise.withResolvers<void>()
  const uploading = upload(url, promise, operator)
  await until(async () => (await saved(db)).length > 0, 'the first row is saved')
  const path = `/api/account/${OPERATOR.username}/disable`
  t.equal((await call('POST', path, undefined, admin)).status, 204)
  resolve()
  t.equal((await uploading).status, 401)
  t.same(await saved(db), ['va_1'])
  const own = { actor: OPERATOR.username, subject: 'slow.csv' }
  t.same(await audited(db), [
    { action: 'reference.begin', ...own, valid_rows: null },
    { action: 'reference.upload', ...own, valid_rows: '1' },
  ])
})

t.test('the audit does not count references whose commit failed', async t => {
  const { db, url } = await startTestService(t, { ROLE: 'api' })
  await sql
    .raw(`
      create function public.refuse() returns trigger language plpgsql as $$ begin raise 'not this one'; end $$;
      create constraint trigger refuse after insert on core.reference deferrable initially deferred
        for each row when (new.value = 'va_2') execute function public.refuse()`)
    .execute(db)
  const { promise, resolve } = Promise.withResolvers<void>()
  const uploading = upload(url, promise)
  await until(async () => (await saved(db)).length > 0, 'the first row is saved')
  resolve()
  t.equal((await uploading).status, 500)
  t.same(await saved(db), ['va_1'])
  t.match(await audited(db), [
    { action: 'reference.begin' },
    { action: 'reference.upload', valid_rows: '1' },
  ])
})
