import { globSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { bySeed } from './by-seed.ts'

/** These take longest, mostly by waiting: begun first, they do not run on when all others have ended. */
const LONGEST_FILES = [
  'operations/pause',
  'console/browser',
  'console/questions',
  'console/bulk',
  'books/backfill-schedule',
  'payments/batch/fates',
  'engine/attempt/unknown',
  'ops/traces',
  'ledger/slots/share-slots',
  'payments/batch/exactly-once',
  'embedded/start',
  'engine/stop',
  'payments/intake/allowed-networks',
  'portfolio/migrate-portfolio',
  'engine/attempt/failing-ledger',
  'portfolio/kill',
  'engine/claim/order',
  'payments/batch/dead-worker',
  'engine/attempt/first-answers',
  'payments/batch/crash-points',
  'books/crash-points',
  'books/backfill-crash-points',
  'callbacks/crash-points',
  'engine/crash-points',
  'portfolio/upload-memory',
  'engine/postgres-restart',
].map(fileOf)

/** What a person wants to know before a commit: the laws of the code, the contract, and one journey through each feature. */
export const QUICK_FILES = [
  'architecture',
  'urls',
  'config',
  'contract/as-specified',
  'contract/examples',
  'contract/other-methods',
  'contract/valid',
  'accounts/sign-on/login',
  'operations/intake',
  'payments/batch/batch',
  'portfolio/run',
  'books/readback',
  'callbacks/callbacks',
  'console/pages',
].map(fileOf)

/** It adds to a list that our modules read when they are loaded: it needs a process in which they are not. */
const FIRST_TO_LOAD = fileOf('portfolio/new-kind')

/** Loading the service and tap takes longer than most files, so files share a process: this many of the longest, */
const LONGEST_PER_PROCESS = 3
/** and at most this many of the others, though a short list has work for two cores. */
const FILES_PER_PROCESS = 25
const FEWEST_PROCESSES = 3
/** Each takes at most this share of the files that are left: the last ones are short, so that all end at about the same time. */
const SHARE_OF_REST = 1 / 6
const FEWEST_FILES = 8

/**
 * Writes what tap is to run into `folder`, one entry per process.
 * @param given the files, or none for all of them
 * @param seed shuffles them, and the tests in them
 */
export function writeSuite(folder: string, given: string[], seed: string | undefined): string[] {
  const all = given.length > 0 ? given : globSync('test/**/*.test.ts')
  const files = all.toSorted(seed === undefined ? undefined : bySeed(seed))
  const longest = LONGEST_FILES.filter(file => files.includes(file))
  const others = files.filter(file => !LONGEST_FILES.includes(file) && file !== FIRST_TO_LOAD)
  const entries = [
    ...spread(longest, LONGEST_PER_PROCESS),
    ...(files.includes(FIRST_TO_LOAD) ? [[FIRST_TO_LOAD]] : []),
    ...shrinking(others),
  ]
  if (seed !== undefined) entries.sort(([a = ''], [b = '']) => bySeed(seed)(a, b))
  const head = [...(seed === undefined ? [] : shuffling(seed)), RUNNING]
  return entries.map((group, n) => {
    const entry = join(folder, `${String(n).padStart(3, '0')}.test.mjs`)
    writeFileSync(entry, [...head, ...group.map(runningOf), 'expectExit()'].join('\n'))
    return entry
  })
}

/** Files of one folder take about as long as each other, so neighbours go to different processes. */
function spread(files: string[], most: number): string[][] {
  const processes = Math.ceil(files.length / most)
  return Array.from({ length: processes }, (_, n) =>
    files.filter((_file, place) => place % processes === n),
  )
}

/** Neighbours stay apart, as `spread` puts them. */
function shrinking(files: string[]): string[][] {
  const most = Math.min(FILES_PER_PROCESS, Math.ceil(files.length / FEWEST_PROCESSES))
  const left = spread(files, FILES_PER_PROCESS).flat()
  const processes: string[][] = []
  while (left.length > 0) {
    const share = Math.max(FEWEST_FILES, Math.ceil(left.length * SHARE_OF_REST))
    processes.push(left.splice(0, Math.min(most, share)))
  }
  return processes
}

function fileOf(name: string): string {
  return `test/${name}.test.ts`
}

const RUNNING = `import { expectExit, runFile } from '${resolve('test/support/run-file.ts')}'`
const runningOf = (file: string) => `await runFile('${file}')`

const shuffling = (seed: string) => [
  `import { shuffleTests } from '${resolve('test/support/shuffle-tests.ts')}'`,
  `shuffleTests('${seed}')`,
]
