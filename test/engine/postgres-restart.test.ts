import { rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { sql } from 'kysely'
import t from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import { migrate } from '../../src/database/migrate/migrate.ts'
import { freePort } from '../../src/embedded/free-port.ts'
import { dice } from '../../src/sandbox/faults/dice.ts'
import { allQueues } from '../../src/worker.ts'
import { runCallers } from '../chaos/callers.ts'
import { startCluster } from '../chaos/cluster.ts'
import { judge } from '../chaos/model.ts'
import { startSingleDatabase } from '../chaos/single-database.ts'
import { control } from '../support/ledger/loans.ts'
import { until } from '../support/until.ts'

const OPERATIONS = 150

t.test('a PostgreSQL killed under load loses nothing that was answered 202', async t => {
  const folder = resolve('.data/restart-postgres')
  rmSync(folder, { recursive: true, force: true })
  const database = await startSingleDatabase(folder, await freePort(0))
  await migrate(database.url, allQueues)
  const cluster = await startCluster(database.url)
  await cluster.add('api')
  await cluster.add('worker')
  const killed = until(async () => cluster.places.every(({ isUp }) => isUp)).then(async () => {
    await database.kill()
    // A process that starts while PostgreSQL recovers waits for it.
    await cluster.add('worker')
    const started = cluster.places.map(({ service }) => service)
    await database.kill()
    return started
  })
  let isKilled = false
  void killed.then(() => {
    isKilled = true
  })
  const apis = cluster.places.filter(({ role }) => role === 'api')
  const isEnough = (sent: number) => isKilled && sent >= OPERATIONS
  const { operations } = await runCallers(apis, { callers: 8, draw: dice(1), isEnough })
  const started = await killed

  const db = openDatabase(database.url, { max: 2, name: 'test', onError: () => undefined })
  await until(async () => {
    const { rows } = await sql<{ open: boolean }>`
      select exists (select from loanops.operation where status = 'processing') as open`.execute(db)
    return !rows[0]?.open
  })
  const { log } = await control(cluster, 'GET', '/books?log=250000')
  const verdict = await judge(db, operations, log)
  t.match(verdict, { vanished: 0, lost: 0, doubled: 0, failedButApplied: 0, outOfOrder: 0 })
  t.equal(verdict.appliedOnce + verdict.refusedPayments, verdict.accepted)
  // The others may end all the work before the last one is up.
  await until(async () => cluster.places.every(({ isUp }) => isUp), 'every process is up')
  t.ok(
    cluster.places.every(({ service }, i) => service === started[i]),
    'no process was lost by it',
  )
  await db.destroy()
  await cluster.close()
  await database.close()
})
