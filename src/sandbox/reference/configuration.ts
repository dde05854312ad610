import { containerError, notFound } from '../http/refusal.ts'
import { day } from '../http/wire.ts'
import type { Ledger } from '../storage/ledger.ts'
import { BLOCKS_CLOSED, CONFIGURATIONS, type Configuration } from './global-configuration.ts'

export function configurations(ledger: Ledger) {
  return { globalConfiguration: listed(ledger).map(one => current(ledger, one)) }
}

export function configuration(ledger: Ledger, by: 'id' | 'name', value: number | string) {
  const found = listed(ledger).find(one => one[by] === value)
  if (!found) throw containerError(500)
  return current(ledger, found)
}

/** A ledger that blocks them is of a later version than the one of the table. */
const listed = ({ flags }: Ledger): Configuration[] =>
  flags.has('block-closed') ? [...CONFIGURATIONS, BLOCKS_CLOSED] : CONFIGURATIONS

function current(ledger: Ledger, one: Configuration): Configuration {
  if (one.name === 'enable-business-date') {
    const { businessDate, isBusinessDateOff } = ledger
    return { ...one, enabled: businessDate !== undefined && !isBusinessDateOff }
  }
  return one.name === 'maker-checker' ? { ...one, enabled: ledger.flags.has('maker-checker') } : one
}

const BUSINESS_DATE = 'BUSINESS_DATE'
const COB_DATE = 'COB_DATE'

export function businessDates(ledger: Ledger) {
  return ledger.businessDate === undefined ? [] : [businessDate(ledger, BUSINESS_DATE)]
}

export function businessDate(ledger: Ledger, type: string) {
  const unknown = (code: string, message: string) =>
    notFound(
      `error.msg.businessdate.${code}`,
      `Business date with type \`${type}\` ${message}`,
      type,
    )
  if (type !== BUSINESS_DATE && type !== COB_DATE)
    throw unknown('type.not.exist', 'does not exist.')
  if (type === COB_DATE || ledger.businessDate === undefined)
    throw unknown('not.found', 'is not found.')
  return { description: 'Business Date', type, date: day(ledger.businessDate) }
}
