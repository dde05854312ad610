import type { Config } from '../../config/config.ts'
import { type Day, isoDay } from '../../day.ts'
import type { Reader } from '../calls/client.ts'
import { bodyIfReadable } from '../calls/if-readable.ts'
import { ledgerPath } from '../calls/path.ts'
import { today } from '../day-format.ts'
import { cached } from './cached.ts'
import {
  CONFIGURATIONS,
  type Configuration,
  type Configurations,
  configurationIn,
} from './configurations.ts'

/**
 * The dates are cached for a short time, because a dry run may follow soon after a change at the ledger, but long
 * enough for many rows.
 */
const CACHED_MS = 10_000

/** Its days are `YYYY-MM-DD`. */
export function openCalendar(
  ledger: Reader,
  { LEDGER_OFFICE_ID, LEDGER_TIMEZONE }: Pick<Config, 'LEDGER_OFFICE_ID' | 'LEDGER_TIMEZONE'>,
) {
  const switches = cached(CACHED_MS, () => readSwitches(ledger))
  const businessDate = cached(CACHED_MS, () => readBusinessDate(ledger, () => switches(null)))
  const office = cached(CACHED_MS, (id: number) =>
    bodyIfReadable(ledger.read<{ openingDate?: Day }>(ledgerPath(['offices', id]))),
  )
  return {
    /** The business date: for the ledger, every later day is in the future. */
    businessDate: async () => (await businessDate(null)) ?? today(LEDGER_TIMEZONE),
    /** The opening date of the office of new clients; undefined if our user may not read it. */
    async openingDate(): Promise<string | undefined> {
      const { openingDate } = (await office(LEDGER_OFFICE_ID)) ?? {}
      return openingDate && isoDay(openingDate)
    },
    /** Whether the ledger refuses repayments on closed and overpaid loans; false if our user may not read it. */
    blocksClosed: async () =>
      configurationIn(await switches(null), CLOSED_LOANS_SWITCH)?.enabled === true,
  }
}

export type LedgerDate = { type: string; date: Day }
export const DATES = ledgerPath(['businessdate'])
/** The switch in the ledger's configuration. */
export const BUSINESS_DATE_SWITCH = 'enable-business-date'
export const CLOSED_LOANS_SWITCH = 'block-transactions-on-closed-overpaid-loans'

async function readSwitches(ledger: Reader): Promise<Configuration[]> {
  const all = await bodyIfReadable(ledger.read<Configurations>(CONFIGURATIONS))
  return all?.globalConfiguration ?? []
}

/**
 * The business date. The ledger may still list one after it was switched off.
 * @returns undefined where the calendar counts
 */
async function readBusinessDate(ledger: Reader, switches: () => Promise<Configuration[]>) {
  const date = businessDateIn((await bodyIfReadable(ledger.read<LedgerDate[]>(DATES))) ?? [])
  if (date === undefined) return undefined
  const found = configurationIn(await switches(), BUSINESS_DATE_SWITCH)
  return found?.enabled === false ? undefined : date
}

/** The business date among the dates that the ledger lists, whether or not they are switched on. */
export function businessDateIn(dates: LedgerDate[]): string | undefined {
  const set = dates.find(({ type }) => type === 'BUSINESS_DATE')
  return set && isoDay(set.date)
}
