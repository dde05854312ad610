import { sql } from 'kysely'
import t from 'tap'
import { suspendedWorker } from '../support/engine/heir.ts'
import { migrateUnderKills } from '../support/portfolio/kill-run.ts'
import { ended, uploadCsv } from '../support/portfolio/migrate.ts'
import { loansCsv } from '../support/portfolio/rows.ts'
import { startProcessFor } from '../support/process.ts'
import { startTestService, testEnv } from '../support/service.ts'
import { until } from '../support/until.ts'

t.test('a run that is killed repeatedly ends with the books of an undisturbed one', async t => {
  const seed = Number(process.env.SEED ?? 11)
  t.comment(`seed ${seed}`)
  const { killed, found, expected, clients } = await migrateUnderKills(t, {
    seed,
    kills: 3,
    clients: 5,
    loans: 30,
    repayments: 250,
  })
  t.equal(killed, 3)
  t.same(found, expected)
  t.equal(clients, 5)
})

t.test('a dry run whose worker is killed continues within 15 s', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const env = testEnv(service.databaseUrl, service.ledger.url)
  const heir = await suspendedWorker(t, env)
  const worker = startProcessFor(t, 'worker', env)
  const { body } = await uploadCsv(service, 'loans', loansCsv({}))
  const fault = { kind: 'latency', ms: 4_000, match: { on: 'reads' } }
  await fetch(`${service.ledger.controlUrl}/faults`, {
    method: 'POST',
    body: JSON.stringify(fault),
  })
  const { migration_id } = body
  await service.call('POST', '/api/migration/run', { migration_id, dry_run: true })
  await until(async () => {
    const { rows } = await sql`
      select from loanops.migration
       where id = ${migration_id} and worked_by is not null`.execute(service.db)
    return rows.length > 0
  })
  await worker.kill('SIGKILL')
  const killedAt = Date.now()
  await fetch(`${service.ledger.controlUrl}/faults`, { method: 'DELETE' })
  heir.wake()
  t.match(await ended(service, migration_id), { dry_run: { would_change: 1 } })
  t.ok(Date.now() - killedAt < 15_000)
})
