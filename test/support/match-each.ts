import type { Test } from 'tap'

/** Asserts that each row matches its pattern and that there are no further rows, which `t.match` alone would ignore. */
export function matchEach(
  t: Test,
  rows: readonly unknown[],
  patterns: readonly unknown[],
  what = 'each row matches, and there are no more',
): void {
  t.match({ count: rows.length, rows }, { count: patterns.length, rows: patterns }, what)
}
