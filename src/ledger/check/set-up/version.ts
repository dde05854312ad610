import type { Check } from '../finding.ts'

type Info = { git?: { build?: { version?: unknown } }; build?: { version?: unknown } }

export const version: Check = {
  check: 'version',
  expects: 'the ledger says which version of Fineract it is',
  async run({ reads }) {
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
