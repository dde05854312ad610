import { NOT_FOUND } from '../../answers/answer.ts'
import { ledgerPath } from '../../calls/path.ts'
import type { Check } from '../finding.ts'
import { type Reads, Unread } from '../reads.ts'

type Info = { git?: { build?: { version?: unknown } }; build?: { version?: unknown } }

/** Every operation makes such calls. No loan has this external id. */
const ABSENT_LOAN = ledgerPath(['loans', 'external-id', 'loanops-check'])

export const fineractVersion: Check = {
  check: 'version',
  expects: 'the ledger is Fineract 1.9 or later, and says which version',
  async run({ reads }) {
    if (await lacksExternalIds(reads))
      return {
        state: 'breaks',
        found:
          'the ledger cannot address loans by external id, as Fineract before 1.9: every operation waits',
        remedy: 'Upgrade the ledger to Fineract 1.9 or later',
      }
    const info = (await reads.info()) as Info | null | undefined
    const said = info?.git?.build?.version ?? info?.build?.version
    if (typeof said === 'string' && said !== '') return { state: 'ok', found: said }
    return {
      state: 'unknown',
      found: 'the ledger does not say it at /actuator/info',
      remedy: 'Look up the version at the ledger, and read its release notes before an upgrade',
    }
  },
}

async function lacksExternalIds(reads: Reads): Promise<boolean> {
  const answer = await reads.read(ABSENT_LOAN).catch((error: unknown) => error)
  return answer instanceof Unread && answer.status === NOT_FOUND && answer.code === null
}
