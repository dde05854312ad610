import { sql } from 'kysely'
import t from 'tap'
import { startTestService } from '../support/service.ts'
import { until } from '../support/until.ts'

t.test('the sweep finds what is due behind thousands of loans that are not', async t => {
  const { db } = await startTestService(t)
  await sql`
    insert into loanops.operation (id, operation_type, origin, subject, external_id, data, next_try_at)
    select gen_random_uuid(), 'LOAN_DELETE', 'api', 'loan:A-' || i, 'A-' || i, '{}', now() + interval '1 hour'
      from generate_series(1, 12000) i`.execute(db)
  // Nobody is woken for it.
  await sql`
    insert into loanops.operation (id, operation_type, origin, subject, external_id, data)
    values (gen_random_uuid(), 'LOAN_DELETE', 'api', 'loan:Z', 'Z', '{"external_loan_id":"Z"}')`.execute(
    db,
  )
  const ended = await until(async () => {
    const { rows } = await sql<{ status: string }>`
      select status from loanops.operation where external_id = 'Z' and status <> 'processing'`.execute(
      db,
    )
    return rows[0]
  })
  t.match(ended, { status: /success|failed/ }, 'it was run')
})
