import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Database } from '../../src/database/database.ts'
import { migrate } from '../../src/database/migrate/migrate.ts'
import { freePort } from '../../src/embedded/free-port.ts'
import { startPostgres } from '../../src/embedded/postgres.ts'
import { allQueues } from '../../src/worker.ts'
import { testEnv } from '../support/service.ts'
import { openBenchDatabase } from './bench-database.ts'

export type Running = { url: string; child: ChildProcess; stop(): Promise<void>; peakMiB(): number }
export type Stage = Awaited<ReturnType<typeof openStage>>

const ASK_EVERY_MS = 20
/** Seldom enough not to count as load. */
const LOOK_EVERY_MS = 200
/** The flags that Node has in the image. */
export const IMAGE_FLAGS = '--max-semi-space-size=8 --max-old-space-size=1024'

/** PostgreSQL with durable settings, and the sandbox ledger, each in its own process. */
export async function openStage({
  folder: name = '.data/bench-postgres',
  flags = [] as string[],
} = {}) {
  const folder = resolve(name)
  rmSync(folder, { recursive: true, force: true })
  const postgres = await startPostgres({
    folder,
    password: 'bench',
    flags: ['-c', 'shared_buffers=512MB', '-c', 'max_wal_size=4GB', ...flags],
  })
  await migrate(postgres.url, allQueues)
  const ledger = await startLedger()
  const db = openBenchDatabase(postgres.url)
  return {
    db,
    databaseUrl: postgres.url,
    postgresPid: Number(readFileSync(resolve(folder, 'postmaster.pid'), 'utf8').split('\n')[0]),
    ledger,
    /** Starts our service, or `file`, as a process, and waits until it is ready. */
    async run(
      role: 'api' | 'worker' | 'all',
      changes: NodeJS.ProcessEnv = {},
      file = 'src/main.ts',
    ) {
      const port = String(await freePort(0))
      const env = testEnv(postgres.url, ledger.url, {
        ...changes,
        PORT: port,
        DATABASE_POOL_MAX: '20',
      })
      const flags = changes.PROFILE === undefined ? [] : profiling(changes.PROFILE)
      const child = spawn(process.execPath, [...flags, file, '--role', role], {
        env: { ...env, PATH: process.env.PATH, NODE_OPTIONS: IMAGE_FLAGS },
        stdio: ['ignore', 'ignore', 'inherit'],
      })
      const url = `http://127.0.0.1:${port}`
      await untilUp(url)
      return { url, child, stop: () => stopped(child), peakMiB: () => peakMiB(child) }
    },
    async close() {
      await db.destroy()
      ledger.child.kill('SIGKILL')
      await postgres.close()
    },
  }
}

/** Waits until every operation is final. */
export async function untilAllFinal(db: Database): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ open: boolean }>`
      select exists (select from loanops.operation where status = 'processing') as open`.execute(db)
    if (!rows[0]?.open) return
    await sleep(LOOK_EVERY_MS)
  }
}

/** The settings that make a commit durable. */
export async function durability(db: Database): Promise<string> {
  const names = ['fsync', 'synchronous_commit', 'full_page_writes', 'wal_sync_method']
  const { rows } = await sql<{ name: string; setting: string }>`
    select name, setting from pg_settings where name = any(${names}) order by name`.execute(db)
  return rows.map(({ name, setting }) => `${name}=${setting}`).join(' ')
}

const profiling = (folder: string) => ['--cpu-prof', `--cpu-prof-dir=${folder}`]

/** The sandbox ledger in its own process. */
export async function startLedger() {
  const child = spawn(process.execPath, ['test/support/sandbox/sandbox-process.ts'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  return { child, ...(JSON.parse(line) as { url: string; controlUrl: string }) }
}

export async function untilUp(url: string): Promise<void> {
  while (!(await fetch(`${url}/healthz`).catch(() => undefined))?.ok) await sleep(ASK_EVERY_MS)
}

async function stopped(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM')
  await once(child, 'close')
}

/** The process's peak memory. */
export function peakMiB({ pid }: ChildProcess): number {
  const kib = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Math.round(Number(kib) / 1024)
}
