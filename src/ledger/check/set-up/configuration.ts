import { ledgerPath } from '../../calls/path.ts'
import type { Reads } from '../reads.ts'
import { Unread } from '../reads.ts'

type Configuration = { name: string; enabled: boolean; value?: number }
const CONFIGURATIONS = ledgerPath(['configurations'])

/** A global switch of the ledger; undefined in versions that do not have it. @throws Unread */
export async function switchOf(reads: Reads, name: string): Promise<Configuration | undefined> {
  const { globalConfiguration } = await reads.read<{ globalConfiguration?: Configuration[] }>(
    CONFIGURATIONS,
  )
  if (!Array.isArray(globalConfiguration) || globalConfiguration.length === 0)
    throw new Unread('the ledger does not list its configuration')
  return globalConfiguration.find(one => one.name === name)
}
