import { parseArgs } from 'node:util'

/** Rates per second; times in minutes. The time measured begins after the warm-up. */
export type Options = { minutes: number; warmUp: number; operations: number; payments: number }

const DAY_MINUTES = 1_440
/** More than any machine that runs everything by itself can hold. */
const MAX_PER_SECOND = 10_000

const RANGES = {
  minutes: { otherwise: 60, least: 1, most: DAY_MINUTES },
  // pg-boss keeps a finished job for a minute, and deletes such jobs once a minute: nothing is steady before two minutes,
  // and the warm-up's last minute is measured.
  'warm-up': { otherwise: 4, least: 3, most: 60 },
  operations: { otherwise: 50, least: 1, most: MAX_PER_SECOND },
  payments: { otherwise: 20, least: 0, most: MAX_PER_SECOND },
} as const

type Name = keyof typeof RANGES

/** @throws Error that names the wrong option and what it may be */
export function readOptions(args: string[]): Options {
  const options = Object.fromEntries(
    Object.keys(RANGES).map(name => [name, { type: 'string' as const }]),
  )
  const { values } = parseArgs({ args, options })
  const number = (name: Name) => wholeNumber(name, values[name] as string | undefined)
  return {
    minutes: number('minutes'),
    warmUp: number('warm-up'),
    operations: number('operations'),
    payments: number('payments'),
  }
}

function wholeNumber(name: Name, given: string | undefined): number {
  const { otherwise, least, most } = RANGES[name]
  if (given === undefined) return otherwise
  const value = Number(given)
  if (/^\d+$/.test(given) && value >= least && value <= most) return value
  throw new Error(`--${name} must be a whole number from ${least} to ${most}, not "${given}"`)
}
