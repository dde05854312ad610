import { createHash } from 'node:crypto'
import { globSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/**
 * These take longest, mostly by waiting: begun first, they do not run on when all others have ended. They keep a process
 * to themselves, since some measure it.
 */
const LONGEST = [
  'engine/stop',
  'engine/unknown',
  'engine/order',
  'payments/exactly-once',
  'payments/fates',
  'portfolio/run',
  'payments/dead-worker',
  'portfolio/kill',
  'portfolio/migrate-portfolio',
  'portfolio/upload-memory',
  'payments/batch',
  'payments/webhooks',
  'engine/crash-points',
  'payments/crash-points',
  'payments/outsiders',
  'engine/failing-ledger',
  'embedded/start',
  'engine/postgres-restart',
].map(name => `test/${name}.test.ts`)

/** Of all others, this many share a process: loading the service and tap takes longer than most files. */
const FILES_PER_PROCESS = 5

/**
 * Writes what tap is to run into `folder`, one entry per process.
 * @param given the files, or none for all of them
 * @param seed shuffles them
 */
export function writeSuite(folder: string, given: string[], seed: string | undefined): string[] {
  const all = given.length > 0 ? given : globSync('test/**/*.test.ts')
  const files = all.toSorted(seed === undefined ? undefined : bySeed(seed))
  const others = files.filter(file => !LONGEST.includes(file))
  const groups = Array.from({ length: Math.ceil(others.length / FILES_PER_PROCESS) }, (_, n) =>
    others.slice(n * FILES_PER_PROCESS, (n + 1) * FILES_PER_PROCESS),
  )
  const alone = LONGEST.filter(file => files.includes(file)).map(file => [file])
  const entries = [...alone, ...groups]
  if (seed !== undefined) entries.sort(([a = ''], [b = '']) => bySeed(seed)(a, b))
  return entries.map((group, n) => {
    const entry = join(folder, `${String(n).padStart(3, '0')}.test.mjs`)
    writeFileSync(entry, ["import t from 'tap'", ...group.flatMap(importOf)].join('\n'))
    return entry
  })
}

const bySeed = (seed: string) => (a: string, b: string) =>
  hashOf(seed, a) < hashOf(seed, b) ? -1 : 1

const hashOf = (seed: string, file: string) =>
  createHash('sha256').update(`${seed} ${file}`).digest('hex')

/** The comment stands before the file's tests in tap's report. */
const importOf = (file: string) => [`t.comment('${file}')`, `await import('${resolve(file)}')`]
