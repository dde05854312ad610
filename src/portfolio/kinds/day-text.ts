import { dayOfIso, dayText, isoDay, namedDay } from '../../day.ts'

export type DayOfFile = {
  /** As operations write it. */
  text: string
  /** `yyyy-MM-dd`: later days compare as greater. */
  iso: string
}

export const DAY_RULE = 'must be a day that exists, as 05 March 2026 or 2026-03-05'
/** Other years are mistyped. */
const YEARS = { first: 1_000, last: 2_999 }
/** A portfolio has some thousand days and a million rows. */
const MAX_KEPT = 20_000
const LONGEST = '05 September 2026'.length
const kept = new Map<string, DayOfFile | undefined>()

/** @param text as `dd MMMM yyyy` or ISO */
export function dayOf(text: string): DayOfFile | undefined {
  if (text.length > LONGEST) return undefined
  if (!kept.has(text)) {
    if (kept.size >= MAX_KEPT) kept.clear()
    kept.set(copied(text), parsed(text))
  }
  return kept.get(text)
}

/** What was trimmed off a cell shares the cell's memory, and would keep all of it. */
function copied(text: string): string {
  return Buffer.from(text).toString()
}

function parsed(text: string): DayOfFile | undefined {
  const day = dayOfIso(text) ?? namedDay(text)
  if (day === undefined || day[0] < YEARS.first || day[0] > YEARS.last) return undefined
  return { text: dayText(day), iso: isoDay(day) }
}
