// Imported by tap's own process, which sorts the test files by name: makes names compare by a seeded hash instead.
import { createHash } from 'node:crypto'

const byName = String.prototype.localeCompare
String.prototype.localeCompare = function (this: string, other: string, ...options: []) {
  if (!this.endsWith('.test.ts') || !other.endsWith('.test.ts'))
    return byName.call(this, other, ...options)
  return byName.call(hashOf(this), hashOf(other))
}

function hashOf(file: string): string {
  return createHash('sha256').update(`${process.env.SHUFFLE_SEED} ${file}`).digest('hex')
}
