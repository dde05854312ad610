import { ledgerPath } from '../calls/path.ts'

export type Configuration = { name: string; enabled: boolean; value?: number }
export type Configurations = { globalConfiguration?: Configuration[] }

/** All switches at once: by the name of one that it does not have, a ledger answers with a 500. */
export const CONFIGURATIONS = ledgerPath(['configurations'])

/** Versions up to 1.10 write some names with underscores, such as `enable_business_date`. */
export function configurationIn(all: Configuration[], name: string): Configuration | undefined {
  return all.find(one => one.name.replaceAll('_', '-') === name)
}
