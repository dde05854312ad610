import type { Config } from '../../config/config.ts'
import type { Database } from '../../database/database.ts'
import { type CheckOptions, checkLedger } from './check-ledger.ts'
import { type Change, saveFindings } from './save-findings.ts'
import { usedLenders } from './used-lenders.ts'

/** @returns what changed since the last check */
export async function checkAndSave(
  { db, config }: { db: Database; config: Config },
  options: CheckOptions = {},
): Promise<Change[]> {
  const lenders = await usedLenders(db, config.lenders)
  const findings = await checkLedger(config, lenders, options)
  // An unknown finding of a check that was cut off says nothing about the ledger.
  return options.stopping?.aborted ? [] : saveFindings(db, findings)
}
