import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'

/** A LENDERS_FILE of the test's own: of lenders, or of a text as it is. */
export function lendersFile(t: Test, content: unknown): string {
  const path = join(mkdtempSync(join(t.testdir(), 'lenders-')), 'lenders.json')
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}
