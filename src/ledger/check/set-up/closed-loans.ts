import { CLOSED_LOANS_SWITCH } from '../../reference/calendar.ts'
import type { Check } from '../finding.ts'
import { switchOf } from './configuration.ts'

export const closedLoans: Check = {
  check: 'closed_loans_blocked',
  expects: 'the ledger books payments on closed and overpaid loans',
  async run({ reads }) {
    const found = await switchOf(reads, CLOSED_LOANS_SWITCH)
    if (found?.enabled !== true)
      return { state: 'ok', found: 'closed and overpaid loans take payments' }
    return {
      state: 'differs',
      found: `${CLOSED_LOANS_SWITCH} is on: a payment that comes late is refused, and an operator must resolve it`,
      remedy: 'Unless this is intended, switch it off in the ledger’s configuration',
    }
  },
}
