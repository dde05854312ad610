import type { Line, Unit } from './verdict.ts'

const MIB = 1_048_576
/** Small tables that are flat say nothing. */
const LEAST_BYTES = MIB
const LEAST_ROWS = 1_000

/** A table of what was measured: start, end, limit and verdict. */
export function report(lines: Line[]): string {
  const rows = lines
    .filter(isWorthSaying)
    .map(line => [
      line.what,
      line.start === undefined ? '-' : show(line.start, line.unit),
      show(line.end, line.unit),
      isJudged(line) ? show(line.limit, line.unit) : '-',
      isJudged(line) ? (line.isFlat ? 'flat' : 'NOT FLAT') : 'not judged',
    ])
  const all = [['', 'start', 'end', 'limit', ''], ...rows]
  const width = (column: number) => Math.max(...all.map(row => row[column]?.length ?? 0))
  const widths = [0, 1, 2, 3].map(width)
  return all
    .map(([what = '', ...others]) =>
      [what.padEnd(widths[0] ?? 0), ...others.map((text, n) => text.padStart(widths[n + 1] ?? 0))]
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

const isJudged = ({ limit }: Line) => Number.isFinite(limit)

function isWorthSaying({ what, unit, end, isFlat }: Line): boolean {
  if (!isFlat || unit === 'bytes per row') return true
  if (what.endsWith('dead rows')) return end >= LEAST_ROWS
  return unit !== 'bytes' || end >= LEAST_BYTES
}

function show(value: number, unit: Unit): string {
  if (unit === 'ms') return `${value.toFixed(2)} ms`
  if (unit === 'count') return String(Math.round(value))
  return unit === 'bytes' ? `${(value / MIB).toFixed(1)} MiB` : `${Math.round(value)} B`
}
