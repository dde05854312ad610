import { type RawBuilder, sql } from 'kysely'
import t from 'tap'
import { uploadCsv } from '../support/portfolio/migrate.ts'
import { repaymentsCsv } from '../support/portfolio/rows.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/until.ts'

const csv = repaymentsCsv(
  { payment_reference: 'p-1' },
  { payment_reference: 'p-2', amount: 'x' },
  ...Array.from({ length: 3_000 }, (_, n) => ({ payment_reference: `q-${n}` })),
)
const stored = { rows: 3_002, valid_rows: 3_001, invalid_rows: 1, errors: { length: 1 } }

t.test('an upload continues after an outage interrupts one of its statements', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  for (const [what, lock] of Object.entries({
    'its first row': sql`lock table loanops.migration in exclusive mode`,
    'its rows': sql`lock table loanops.migration_row in exclusive mode`,
    'its end': sql`lock table loanops.audit in exclusive mode`,
  })) {
    const uploaded = await uploadThrough(service, lock)
    t.match(uploaded, { status: 201, body: stored }, what)
  }
})

t.test('an upload is refused if the database has lost some of its rows', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const lock = sql`lock table loanops.audit in exclusive mode`
  const lose = sql`delete from loanops.migration_row where line = 3`
  const uploaded = await uploadThrough(service, lock, lose)
  t.match(uploaded, { status: 503, body: { detail: /the file was not stored completely/ } })
  t.equal((await sql`select from loanops.migration_row`.execute(service.db)).rows.length, 0)
})

/** Uploads while another transaction holds a lock, and ends the connection that waits for it. */
async function uploadThrough(
  service: TestService,
  lock: RawBuilder<unknown>,
  meanwhile = sql`select`,
) {
  const { db } = service
  const locked = await db.transaction().execute(async trx => {
    await lock.execute(trx)
    const uploading = uploadCsv(service, 'repayments', csv)
    await until(async () => {
      const { rows } = await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`.execute(db)
      return rows.length > 0
    }, 'the upload waits for the lock')
    await meanwhile.execute(db)
    // The object keeps the upload from being awaited here: it ends only after this transaction.
    return { uploading }
  })
  return locked.uploading
}
