import { dayOfIso, dayText, isoDay, namedDay } from '../../day.ts'

type DayOfFile = {
  text: string
  /** `yyyy-MM-dd`: later days compare as greater. */
  iso: string
}

/** Any other year is a typing error. */
const YEARS = { first: 1_000, last: 2_999 }
export const DAY_RULE = `must be a valid date from ${YEARS.first} to ${YEARS.last}, such as 05 March 2026 or 2026-03-05`
/** The million rows of a portfolio have only a few thousand different days. */
const MAX_KEPT_TEXTS = 20_000
const MAX_CHARACTERS = '05 September 2026'.length
const kept = new Map<string, DayOfFile | undefined>()

export function dayOf(text: string): DayOfFile | undefined {
  if (text.length > MAX_CHARACTERS) return undefined
  if (!kept.has(text)) {
    if (kept.size >= MAX_KEPT_TEXTS) kept.clear()
    kept.set(copied(text), parsed(text))
  }
  return kept.get(text)
}

/** A trimmed string shares the memory of its cell, and would keep the whole cell alive. */
function copied(text: string): string {
  return Buffer.from(text).toString()
}

function parsed(text: string): DayOfFile | undefined {
  const day = dayOfIso(text) ?? namedDay(text)
  if (day === undefined || day[0] < YEARS.first || day[0] > YEARS.last) return undefined
  return { text: dayText(day), iso: isoDay(day) }
}
