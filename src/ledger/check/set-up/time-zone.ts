import { type Day, isoDay } from '../../../day.ts'
import { ledgerPath } from '../../calls/path.ts'
import { today } from '../../day-format.ts'
import type { Check } from '../finding.ts'
import { Unread } from '../reads.ts'
import { businessDateOf } from './business-date.ts'
import { productsIn } from './products.ts'

type Template = { timeline?: { expectedDisbursementDate?: Day } }

export const timeZone: Check = {
  check: 'time_zone',
  expects: 'the ledger’s tenant is in the time zone LEDGER_TIMEZONE',
  async run({ reads, settings: { LEDGER_TIMEZONE: zone } }) {
    if ((await businessDateOf(reads)) !== undefined)
      throw new Unread('the business date hides which day it is for the ledger')
    const [product] = await productsIn(reads)
    if (product === undefined) throw new Unread('without a product, the ledger shows no day')
    const query = { templateType: 'individual', productId: String(product.id) }
    const before = today(zone)
    const { timeline } = await reads.read<Template>(ledgerPath(['loans', 'template'], query))
    const day = timeline?.expectedDisbursementDate
    if (day === undefined) throw new Unread('the ledger does not show which day it is')
    const there = isoDay(day)
    // Midnight may have been between the two readings.
    const isToday = [before, today(zone)].includes(there)
    if (!isToday)
      return {
        state: 'breaks',
        found: `it is ${there} for the ledger, and ${before} in ${zone}`,
        remedy:
          'Set LEDGER_TIMEZONE to the time zone of the tenant (timezone_id in its table tenants)',
      }
    // The ledger shows days alone, which are the same in most time zones for most of a day.
    return {
      state: 'unknown',
      found: `the ledger’s day is ${there}, as in ${zone}, but at this hour other time zones have the same day`,
      remedy: `Compare LEDGER_TIMEZONE with timezone_id in the ledger’s table tenants; this check notices a difference within a day`,
    }
  },
}
