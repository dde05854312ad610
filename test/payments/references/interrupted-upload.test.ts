import { sql } from 'kysely'
import t from 'tap'
import type { Database } from '../../../src/database/database.ts'
import { freePort } from '../../../src/embedded/free-port.ts'
import { OPERATOR, startWithAccounts } from '../../support/accounts/admin.ts'
import { crashPointsIn, startProcessFor } from '../../support/process.ts'
import { caller, startTestService, TOKEN, testEnv } from '../../support/service.ts'
import { until } from '../../support/until.ts'

/** After this many bytes, of empty rows too, an upload saves the rows that have come. */
const BYTES_AT_ONCE = 256 * 1024
const HEADER = 'gateway,kind,value,external_loan_id,valid_from,valid_until'
const row = (value: string) => `gateway_a,virtual_account,${value},L-1,,`

/** Sends a row so that it is saved, and another one only once `next` says so. */
function uploadInParts(url: string, next: Promise<void>, headers: object = {}) {
  const boundary = 'slow'
  async function* body() {
    yield `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="refs.csv"\r\n\r\n`
    yield [HEADER, row('va_1'), '\n'.repeat(2 * BYTES_AT_ONCE)].join('\n')
    await next
    yield `${row('va_2')}\r\n--${boundary}--\r\n`
  }
  return fetch(`${url}/api/references/upload`, {
    method: 'POST',
    headers: {
      'x-internal-token': TOKEN,
      'content-type': `multipart/form-data; boundary=${boundary}`,
      ...headers,
    },
    body: ReadableStream.from(body()).pipeThrough(new TextEncoderStream()),
    duplex: 'half',
  })
}

async function saved(db: Database) {
  const { rows } = await sql<{ value: string }>`select value from ops.reference order by 1`.execute(
    db,
  )
  return rows.map(({ value }) => value)
}

async function audited(db: Database) {
  const { rows } = await sql<object>`
    select actor, subject, detail ->> 'valid_rows' as valid_rows
      from ops.audit where action = 'reference.upload'`.execute(db)
  return rows
}

t.test('the references that a process saved before it died are in the audit', async t => {
  const { db, databaseUrl, ledger } = await startTestService(t, { ROLE: 'api' })
  const port = String(await freePort(0))
  const changes = { PORT: port, LOANOPS_CRASH_AT: 'reference.saved' }
  const doomed = startProcessFor(t, 'api', testEnv(databaseUrl, ledger.url, changes))
  const url = `http://127.0.0.1:${port}`
  const call = caller(url)
  await until(
    () =>
      call('GET', '/healthz').then(
        ({ status }) => status === 200,
        () => false,
      ),
    'it answers',
  )
  const { promise, resolve } = Promise.withResolvers<void>()
  const uploading = uploadInParts(url, promise).catch(() => undefined)
  await doomed.ended
  resolve()
  await uploading
  t.same(crashPointsIn(doomed.said), ['reference.saved'])
  t.same(await saved(db), ['va_1'])
  t.same(await audited(db), [{ actor: 'internal-token', subject: 'refs.csv', valid_rows: '1' }])
})

t.test('an account that is disabled during an upload saves no further reference', async t => {
  const { db, url, call, admin, operator } = await startWithAccounts(t)
  const { promise, resolve } = Promise.withResolvers<void>()
  const uploading = uploadInParts(url, promise, operator)
  await until(async () => (await saved(db)).length > 0, 'the first row is saved')
  const path = `/api/account/${OPERATOR.username}/disable`
  t.equal((await call('POST', path, undefined, admin)).status, 204)
  resolve()
  t.equal((await uploading).status, 401)
  t.same(await saved(db), ['va_1'])
  t.same(await audited(db), [{ actor: OPERATOR.username, subject: 'refs.csv', valid_rows: '1' }])
})
