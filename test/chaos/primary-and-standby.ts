import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { migrate } from '../../src/database/migrate/migrate.ts'
import { freePort } from '../../src/embedded/free-port.ts'
import { type Postgres, startPostgres } from '../../src/embedded/postgres.ts'
import { allQueues } from '../../src/worker.ts'
import { withClient } from '../support/database/with-client.ts'
import { until } from '../support/until.ts'
import { killPostmaster, PASSWORD } from './single-database.ts'

const STANDBY = 'standby'

/** A migrated primary whose commits wait for its standby. */
export type Pair = {
  primary: Postgres
  standby: Postgres
  killPrimary(): void
  /** Returns once the standby accepts writes. */
  promote(): Promise<void>
  /** Ends both, whether they are running or not. */
  close(): Promise<void>
}

/** Starts a primary, and a standby from a cold copy of it, in two folders. */
export async function startPair(folder: string): Promise<Pair> {
  const folders = { primary: `${folder}-primary`, standby: `${folder}-standby` }
  for (const one of Object.values(folders)) rmSync(one, { recursive: true, force: true })
  const ports = { primary: await freePort(0), standby: await freePort(0) }
  const start = (which: keyof typeof folders, settings: string[] = []) =>
    startPostgres({
      folder: folders[which],
      password: PASSWORD,
      port: async () => ports[which],
      flags: settings.flatMap(setting => ['-c', setting]),
    })

  const first = await start('primary')
  await migrate(first.url, allQueues)
  await first.close()
  // The copy keeps its owner, whom PostgreSQL insists on.
  execFileSync('cp', ['-a', folders.primary, folders.standby])
  const primary = await start('primary', [`synchronous_standby_names=${STANDBY}`])
  const source = `host=127.0.0.1 port=${ports.primary} user=loanops password=${PASSWORD} application_name=${STANDBY}`
  writeFileSync(`${folders.standby}/standby.signal`, '')
  const standby = await start('standby', [`primary_conninfo=${source}`])
  await until(() => isSynchronous(primary.url), 'the standby follows')

  let isPrimaryAlive = true
  return {
    primary,
    standby,
    killPrimary() {
      killPostmaster(folders.primary)
      isPrimaryAlive = false
    },
    promote: () => once(standby.url, 'select pg_promote()').then(() => undefined),
    async close() {
      if (isPrimaryAlive) killPostmaster(folders.primary)
      await standby.close()
    },
  }
}

async function isSynchronous(url: string): Promise<boolean> {
  const rows = await once(url, "select from pg_stat_replication where sync_state = 'sync'")
  return rows.length === 1
}

async function once(url: string, text: string): Promise<unknown[]> {
  return (await withClient(url, client => client.query(text))).rows
}
