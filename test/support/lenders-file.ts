import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'

/** A LENDERS_FILE of the test's own. */
export function lendersFile(t: Test, lenders: object): string {
  const file = join(t.testdir({}), 'lenders.json')
  writeFileSync(file, JSON.stringify(lenders))
  return file
}
