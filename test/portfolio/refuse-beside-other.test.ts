import { sql } from 'kysely'
import t from 'tap'
import { uploadCsv } from '../support/portfolio/migrate.ts'
import { loansCsv, repaymentsCsv } from '../support/portfolio/rows.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/until.ts'

/** Any number that the service does not use. */
const TEST_LOCK = 1
const MAX_CONCURRENT_UPLOADS = 4

t.test('of two kinds of file on the same loans, only one is running', async t => {
  // Without a worker, a run never ends by itself.
  const service = await startTestService(t, { ROLE: 'api' })
  const run = (id: string) => service.call('POST', '/api/migration/run', { migration_id: id })
  const act = (id: string, action: string) => service.call('POST', `/api/migration/${id}/${action}`)
  const loans = (loan: string) => uploaded(service, 'loans', loansCsv({ loan_external_id: loan }))
  const repayments = (loan: string) =>
    uploaded(service, 'repayments', repaymentsCsv({ loan_external_id: loan }))

  for (const [refused, upload, running, other] of [
    ['repayments', repayments, 'loans', loans],
    ['loans', loans, 'repayments', repayments],
  ] as const)
    t.test(`${refused} cannot be started or retried during a run of their ${running}`, async t => {
      const loan = `OF-${running}`
      const [started, retried, beside] = [await upload(loan), await upload(loan), await other(loan)]
      await run(retried)
      await act(retried, 'cancel')
      await run(beside)
      const detail = new RegExp(`^Migration .* is running ${running} on the same loans`)
      t.match(await run(started), { status: 409, body: { detail } })
      t.match(await act(retried, 'retry'), { status: 409, body: { detail } })
      t.match(await run(await upload(`OTHER-${loan}`)), { status: 202 })
      await act(beside, 'cancel')
      t.match(await act(retried, 'retry'), { status: 202 })
      t.match(await run(started), { status: 202 })
    })

  t.test('of two runs on the same loans that start at once, one is refused', async t => {
    const pairs = await Promise.all(
      ['C', 'D', 'E', 'F'].map(loan => Promise.all([loans(loan), repayments(loan)])),
    )
    const answers = await Promise.all(pairs.map(pair => Promise.all(pair.map(run))))
    for (const pair of answers) t.same(pair.map(({ status }) => status).sort(), [202, 409])
  })

  t.test('long uploads do not hold up a retry', async t => {
    const id = await loans('G')
    await run(id)
    await act(id, 'cancel')
    await sql.raw(HOLD_UPLOADS).execute(service.db)
    const waiting = async () => {
      const { rows } = await sql`
        select from pg_stat_activity
         where datname = current_database() and wait_event = 'advisory'`.execute(service.db)
      return rows.length === MAX_CONCURRENT_UPLOADS
    }
    const { uploads } = await service.db.transaction().execute(async trx => {
      await sql`select pg_advisory_xact_lock(${TEST_LOCK})`.execute(trx)
      const uploads = Array.from({ length: MAX_CONCURRENT_UPLOADS }, () => loans('H'))
      await until(waiting, 'all uploads wait')
      t.match(await act(id, 'retry'), { status: 202 })
      t.ok(await waiting(), 'the uploads are still waiting')
      return { uploads }
    })
    await Promise.all(uploads)
  })
})

/** Makes the last step of an upload wait until the test releases its lock. */
const HOLD_UPLOADS = `
  create function loanops.hold() returns trigger language plpgsql as $$
  begin
    perform pg_advisory_xact_lock(${TEST_LOCK});
    return new;
  end
  $$;
  create trigger hold before update on loanops.migration
    for each row when (old.status = 'uploading') execute function loanops.hold()`

async function uploaded(service: TestService, type: string, csv: string): Promise<string> {
  return (await uploadCsv(service, type, csv)).body.migration_id
}
