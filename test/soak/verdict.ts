import type { Tolerance } from './tolerances.ts'

export type Unit = 'bytes' | 'bytes per row' | 'ms' | 'count'
export type Figure = { what: string; unit: Unit; value: number; tolerance: Tolerance }
export type Line = {
  what: string
  unit: Unit
  /** Undefined where there was nothing to measure yet. */
  start: number | undefined
  end: number
  /** The most that still counts as flat. */
  limit: number
  isFlat: boolean
}

/** Compares what must stay flat at its end with its start. What rows take is left out where there were none. */
export function verdict(start: Figure[], end: Figure[]): Line[] {
  const before = new Map(start.map(({ what, value }) => [what, value]))
  const isComparable = ({ what, unit }: Figure) => before.has(what) || unit !== 'bytes per row'
  return end.filter(isComparable).map(({ what, unit, value, tolerance }) => {
    const { factor, slack, most } = tolerance
    const limit = most ?? (before.get(what) ?? 0) * factor + slack
    return { what, unit, start: before.get(what), end: value, limit, isFlat: value <= limit }
  })
}
