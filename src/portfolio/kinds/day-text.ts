import { dayText, isoDay, dayOf as namedDay } from '../../day.ts'

export type DayOfFile = {
  /** As operations write it. */
  text: string
  /** `yyyy-MM-dd`: later days compare as greater. */
  iso: string
}

export const DAY_RULE = 'must be a day that exists, as 05 March 2026 or 2026-03-05'
const ISO_SHAPE = /^([12]\d{3})-(0[1-9]|1[0-2])-(\d{2})$/
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
  const day = namedDay(inWords(text) ?? text)
  if (day === undefined) return undefined
  const iso = isoDay(day)
  return ISO_SHAPE.test(iso) ? { text: dayText(day), iso } : undefined
}

function inWords(text: string): string | undefined {
  const [, year, month, day] = ISO_SHAPE.exec(text) ?? []
  return year && dayText([Number(year), Number(month), Number(day)])
}
