import { containerError, notFound } from '../http/refusal.ts'
import { day } from '../http/wire.ts'
import type { Ledger } from '../storage/ledger.ts'
import { INR, USD } from './currency.ts'
import { OFFICE_ID, OFFICE_NAME, OFFICE_OPENED } from './office.ts'

export const currencies = { selectedCurrencyOptions: [INR, USD], currencyOptions: [INR, USD] }

export const offices = [
  {
    id: OFFICE_ID,
    name: OFFICE_NAME,
    nameDecorated: OFFICE_NAME,
    externalId: '1',
    openingDate: day(OFFICE_OPENED),
    hierarchy: '.',
  },
]

export function configuration(ledger: Ledger, name: string) {
  const common = { value: 0, trapDoor: false }
  if (name === 'enable-business-date') {
    const enabled = ledger.businessDate !== undefined
    const description = 'Whether the logical business date functionality is enabled in the system'
    return { name, enabled, ...common, id: 44, description }
  }
  if (name === 'maker-checker') return { name, enabled: false, ...common, id: 1 }
  throw containerError(500)
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
  if (type === COB_DATE || ledger.businessDate === undefined) {
    throw unknown('not.found', 'is not found.')
  }
  return { description: 'Business Date', type, date: day(ledger.businessDate) }
}
