import { sql } from 'kysely'
import t from 'tap'
import { markProgress } from '../../src/portfolio/mark-progress.ts'
import { uploadCsv } from '../support/portfolio/migrate.ts'
import { repaymentsCsv } from '../support/portfolio/rows.ts'
import { startTestService } from '../support/service.ts'

t.test('the end of a run is estimated from its recent rate, without an earlier outage', async t => {
  const { call, db, url } = await startTestService(t, { ROLE: 'api' })
  const rows = Array.from({ length: 10 }, (_, n) => ({ payment_reference: `p-${n}` }))
  const { migration_id } = (await uploadCsv({ url }, 'repayments', repaymentsCsv(...rows))).body
  await call('POST', '/api/migration/run', { migration_id })
  await sql`update loanops.migration set started_at = now() - interval '3 hours'`.execute(db)
  await markProgress(db, migration_id)
  await sql`update loanops.migration set marked_at = now() - interval '40 seconds', done = 4`.execute(
    db,
  )
  await markProgress(db, migration_id)
  const { body } = await call('GET', `/api/migration/${migration_id}`)
  // Four rows in 40 s, with six left.
  t.match(body, { status: 'running', rate_per_second: /^0\.(1|09\d*)$/ })
  const endsInSeconds = (Date.parse(body.estimated_end_at) - Date.now()) / 1_000
  t.ok(endsInSeconds > 30 && endsInSeconds < 90, `${endsInSeconds} s`)

  await call('POST', `/api/migration/${migration_id}/cancel`)
  await call('POST', `/api/migration/${migration_id}/retry`)
  const { body: again } = await call('GET', `/api/migration/${migration_id}`)
  t.match(again, { status: 'running', rate_per_second: 0, estimated_end_at: null })
})
