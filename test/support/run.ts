// Starts the PostgreSQL that the suite runs on, then the suite: npm test [-- file …]
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, rmSync, statfsSync } from 'node:fs'
import { freemem } from 'node:os'
import { dirname, resolve } from 'node:path'
import { ownFolder } from '../../src/embedded/own-folder.ts'
import { startPostgres } from '../../src/embedded/postgres.ts'
import { makeTemplate } from './template.ts'

const MEMORY = '/dev/shm'
/** Each test's own database is a copy of 10 MB, and there are some 250 of them: three times as much, so that others have room too. */
const ROOM_BYTES = 8 * 2 ** 30

const tap = resolve('node_modules/.bin/tap')
// After a fresh install tap still knows the plugins it came with, whose TypeScript loader ours cannot be read with.
const built = once(spawn(tap, ['build'], { stdio: 'ignore' }), 'exit')
const folder = postgresFolder()
rmSync(folder, { recursive: true, force: true })
const postgres = await startPostgres({
  folder,
  password: 'test',
  // Tests kill processes, never the machine: what the disk keeps is not what they are about.
  flags: [
    'fsync=off',
    'full_page_writes=off',
    'autovacuum=off',
    'wal_level=minimal',
    'max_wal_senders=0',
    'max_connections=400',
    'scram_iterations=1',
  ].flatMap(setting => ['-c', setting]),
})
try {
  await makeTemplate(postgres.url)
  await built
  const { status } = spawnSync(tap, process.argv.slice(2), {
    stdio: 'inherit',
    env: {
      ...process.env,
      TEST_DATABASE_URL: postgres.url,
      // Half of a process's start is reading our own sources: of all processes only the first one does.
      NODE_COMPILE_CACHE: resolve('.data/compile-cache'),
      NODE_OPTIONS: `--import=${resolve('test/support/lean-tap.ts')}`,
    },
  })
  process.exitCode = status ?? 1
} finally {
  await postgres.close()
  if (folder.startsWith(MEMORY)) rmSync(dirname(folder), { recursive: true, force: true })
}

/** In memory where there is plenty: copying databases to a disk is an eighth of the suite's time. */
function postgresFolder(): string {
  const { bavail, bsize } = existsSync(MEMORY) ? statfsSync(MEMORY) : { bavail: 0, bsize: 0 }
  if (bavail * bsize < ROOM_BYTES || freemem() < ROOM_BYTES) return resolve('.data/test-postgres')
  // The same for each run in this folder, so that what a killed one has left goes with the next.
  const name = createHash('sha256').update(process.cwd()).digest('hex').slice(0, 12)
  ownFolder(`${MEMORY}/loanops-test-${name}`, process.getuid?.() ?? 0)
  return `${MEMORY}/loanops-test-${name}/postgres`
}
