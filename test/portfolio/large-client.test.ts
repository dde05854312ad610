import { sql } from 'kysely'
import t from 'tap'
import { ended, rowsOf, uploadCsv } from '../support/portfolio/migrate.ts'
import { loansCsv } from '../support/portfolio/rows.ts'
import { startTestService } from '../support/service.ts'

const LOANS = 1_500
/** A few more rows than a run has under way. */
const MAX_ROWS_AT_ONCE = 1_100

t.test('a client that is refused fails any number of loans, a few at a time', async t => {
  const service = await startTestService(t)
  const client = {
    client_activation_date: '2098-01-01',
    submitted_on_date: '2098-01-02',
    approved_on_date: '',
    disbursed_on_date: '',
  }
  const loans = Array.from({ length: LOANS }, (_, n) => ({ ...client, loan_external_id: `L-${n}` }))
  const { migration_id } = (await uploadCsv(service, 'loans', loansCsv(...loans))).body
  await sql
    .raw(`
      create function public.few() returns trigger language plpgsql as $$
      begin
        if (select count(*) from changed) > ${MAX_ROWS_AT_ONCE} then raise 'too many at once'; end if;
        return null;
      end $$;
      create trigger few after update on loanops.migration_row referencing new table as changed
        for each statement execute function public.few()`)
    .execute(service.db)
  await service.call('POST', '/api/migration/run', { migration_id })
  t.match(await ended(service, migration_id), { status: 'completed', failed: LOANS, stopped: 0 })
  const [first, ...others] = await rowsOf(service, migration_id)
  t.match(first.reason, /future/)
  t.ok(others.every(({ reason }) => /^its client: The ledger refused/.test(reason)))
  const { body } = await service.call('GET', '/metrics')
  t.match(body, new RegExp(`loanops_migration_rows_total\\{state="failed"\\} ${LOANS}\\n`))
})
