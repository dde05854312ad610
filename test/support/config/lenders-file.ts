import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'

/** Writes a LENDERS_FILE for one test, from lenders or from a text. */
export function lendersFile(t: Test, content: unknown): string {
  const path = join(mkdtempSync(join(t.testdir(), 'lenders-')), 'lenders.json')
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}
