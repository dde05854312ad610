import {
  CONFIGURATIONS,
  type Configurations,
  configurationIn,
} from '../../reference/configurations.ts'
import type { Reads } from '../reads.ts'
import { Unread } from '../reads.ts'

/** A global switch of the ledger; undefined in versions that do not have it. @throws Unread */
export async function switchOf(reads: Reads, name: string) {
  const { globalConfiguration } = await reads.read<Configurations>(CONFIGURATIONS)
  if (!Array.isArray(globalConfiguration) || globalConfiguration.length === 0)
    throw new Unread('the ledger does not list its configuration')
  return configurationIn(globalConfiguration, name)
}
