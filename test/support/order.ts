// Imported by tap's own process, which sorts the test files by name: here, names compare by when a file is to begin.
import { createHash } from 'node:crypto'

/** Those that take longest, mostly by waiting: begun first, they do not run on when all others have ended. */
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

const seed = process.env.SHUFFLE_SEED
const placeOf = seed === undefined ? placeByLength : placeBySeed
const byName = String.prototype.localeCompare
String.prototype.localeCompare = function (this: string, other: string, ...options: []) {
  if (!this.endsWith('.test.ts') || !other.endsWith('.test.ts'))
    return byName.call(this, other, ...options)
  return byName.call(placeOf(String(this)), placeOf(other))
}

function placeByLength(file: string): string {
  const place = LONGEST.indexOf(file)
  return place === -1 ? `z ${file}` : `a ${String(place).padStart(3, '0')}`
}

function placeBySeed(file: string): string {
  return createHash('sha256').update(`${seed} ${file}`).digest('hex')
}
