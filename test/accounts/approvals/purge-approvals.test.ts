import { sql } from 'kysely'
import t from 'tap'
import { purgeApprovals } from '../../../src/accounts/approvals/approvals-feature.ts'
import { openDatabase } from '../../../src/database/database.ts'
import { workerUrl } from '../../support/database/template.ts'
import { startTestService } from '../../support/service.ts'

t.test('a worker that cannot read approvals deletes those that ended long ago', async t => {
  const { db, databaseUrl } = await startTestService(t, { ROLE: 'api' })
  await sql`
    insert into loanops.approval (id, call, act, subject, request, facts, fingerprint, state, proposed_by, decided_at, expires_at)
    select core.first_id_at(now() - interval '3 days' + n * interval '1 second'), 'call', 'act', subject, '{}', '{}', '', state, 'asha', decided_at, now()
      from (values (1, 'old', 'approved', now() - interval '25 hours'), (2, 'recent', 'rejected', now() - interval '23 hours'),
                   (3, 'open', 'proposed', null)) a (n, subject, state, decided_at)`.execute(db)
  const worker = openDatabase(workerUrl(databaseUrl), { max: 1, name: 'test-worker', onError() {} })
  t.teardown(() => worker.destroy())
  t.equal(await purgeApprovals(worker, 1), 1)
  await t.rejects(purgeApprovals(worker, 0), { message: /less than a day ago/ })
  const { rows } = await sql`select subject from loanops.approval order by 1`.execute(db)
  t.same(rows, [{ subject: 'open' }, { subject: 'recent' }])
})
