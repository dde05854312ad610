import { today } from '../../day-format.ts'
import {
  BUSINESS_DATE_SWITCH,
  businessDateIn,
  DATES,
  type LedgerDate,
} from '../../reference/calendar.ts'
import type { Check } from '../finding.ts'
import { type Reads, Unread } from '../reads.ts'
import { switchOf } from './configuration.ts'

export const businessDate: Check = {
  check: 'business_date',
  expects: 'the ledger’s business date is today, or is switched off',
  async run({ reads, settings: { LEDGER_TIMEZONE } }) {
    const date = await businessDateOf(reads)
    if (date === undefined) return { state: 'ok', found: 'it is switched off' }
    const day = today(LEDGER_TIMEZONE)
    if (date === day) return { state: 'ok', found: `it is today, ${day}` }
    return {
      state: 'differs',
      found: `it is ${date}, and today is ${day}: for the ledger, every later day is in the future`,
      remedy:
        'Let the ledger’s job move the business date each night, or switch off enable-business-date',
    }
  },
}

/** @returns undefined while the calendar counts @throws Unread */
export async function businessDateOf(reads: Reads): Promise<string | undefined> {
  if ((await switchOf(reads, BUSINESS_DATE_SWITCH))?.enabled !== true) return undefined
  const date = businessDateIn(await reads.list<LedgerDate>(DATES))
  if (date === undefined)
    throw new Unread('the business date is switched on, but the ledger does not show it')
  return date
}
