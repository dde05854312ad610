import { dayText, type LedgerDay } from './dates.ts'

/** One clause on what the ledger holds instead of what was asked for. */
export function difference(name: string, there: unknown, wanted: unknown): string {
  return `${name} is ${there ?? 'empty'} there, not ${wanted}`
}

export const dayThere = (day: LedgerDay | undefined) => day && dayText(day)
