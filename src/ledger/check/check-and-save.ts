import { sql } from 'kysely'
import type { Config } from '../../config/config.ts'
import type { Lender } from '../../config/lenders.ts'
import type { Database } from '../../database/database.ts'
import { type CheckOptions, checkLedger } from './check-ledger.ts'
import { chosenLenders } from './chosen-lenders.ts'
import { type Change, saveFindings } from './save-findings.ts'
import { neededBy } from './set-up/permissions.ts'

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

/** Enough operations to show who lends through LoanOps now, however long its history is. */
const LAST_OPERATIONS = 1_000

/** The lenders in LENDERS_FILE, and those with sources or operations; all of them where there are none. */
async function usedLenders(db: Database, lenders: ReadonlyMap<string, Lender>): Promise<Lender[]> {
  const { rows } = await sql<{ code: string }>`
    select lender as code from core.source
     union
    select data ->> 'lenderConfig'
      from (select data from loanops.operation order by seq desc limit ${LAST_OPERATIONS}) last
     where data ->> 'lenderConfig' is not null`.execute(db)
  const used = new Set(rows.map(({ code }) => code))
  return chosenLenders(lenders, ({ code, isNamed }) => isNamed || used.has(code))
}
