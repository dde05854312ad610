import type { Database } from '../../database/database.ts'
import { DAY_MS } from '../../day.ts'
import { findDays } from './find-days.ts'

type Filter = Parameters<typeof findDays>[1]
type Newest = {
  /** The rows of whole days, newest first; of one day alone, if that has more than the maximum. */
  days: Awaited<ReturnType<typeof findDays>>
  isWhole: boolean
  /** The newest day of the rest; null if none is left. */
  older: string | null
}

/** Where days have many rows, few days are read. */
const FIRST_STEP_DAYS = 7
/** More days at once would take longer than a statement may. */
const MAX_STEP_DAYS = 28

export async function newestDays(db: Database, filter: Filter, max: number): Promise<Newest> {
  const found: Newest['days'] = []
  let to = filter.to
  for (
    let step = FIRST_STEP_DAYS;
    to >= filter.from && found.length <= max;
    step = Math.min(2 * step, MAX_STEP_DAYS)
  ) {
    const start = daysBefore(to, step - 1)
    const from = start < filter.from ? filter.from : start
    found.push(...(await findDays(db, { ...filter, from, to })).toReversed())
    to = daysBefore(from, 1)
  }
  const cut = found[max]?.day
  if (cut === undefined) return { days: found, isWhole: true, older: null }
  const whole = found.filter(({ day }) => day > cut)
  if (whole.length > 0) return { days: whole, isWhole: false, older: cut }
  const older = daysBefore(cut, 1)
  return { days: found.slice(0, max), isWhole: false, older: older < filter.from ? null : older }
}

const daysBefore = (day: string, days: number) =>
  new Date(Date.parse(day) - days * DAY_MS).toISOString().slice(0, 10)
