import type { Config } from '../../config/config.ts'
import type { Database } from '../../database/database.ts'
import { type CheckOptions, checkLedger } from './check-ledger.ts'
import { type Change, saveFindings } from './save-findings.ts'
import { neededBy } from './set-up/permissions.ts'
import { usedLenders } from './used-lenders.ts'

export type CheckContext = {
  db: Database
  config: Config
  catalogue: ReadonlyMap<string, { permissions?: string[] }>
}

/** @returns what changed since the last check */
export async function checkAndSave(
  { db, config, catalogue }: CheckContext,
  options: CheckOptions = {},
): Promise<Change[]> {
  const lenders = await usedLenders(db, config.lenders)
  const needed = neededBy(catalogue.values())
  const findings = await checkLedger({ settings: config, lenders, needed }, options)
  // An unknown finding of a check that was cut off says nothing about the ledger.
  return options.stopping?.aborted ? [] : saveFindings(db, findings)
}
