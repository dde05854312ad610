import type { Test } from 'tap'

/** Each row matches its pattern, and there are no more: `t.match` alone lets rows beyond the last pattern pass. */
export function matchEach(
  t: Test,
  rows: readonly unknown[],
  patterns: readonly unknown[],
  what = 'each row matches, and there are no more',
): void {
  t.match({ count: rows.length, rows }, { count: patterns.length, rows: patterns }, what)
}
