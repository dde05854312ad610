import { sql } from 'kysely'
import type { Lender } from '../../config/lenders.ts'
import type { Database } from '../../database/database.ts'
import { chosenLenders } from './chosen-lenders.ts'

/** Enough operations to show who lends through LoanOps now, however long its history is. */
const LAST_OPERATIONS = 1_000

/** The lenders in LENDERS_FILE, and those with sources or operations; all of them where there are none. */
export async function usedLenders(
  db: Database,
  lenders: ReadonlyMap<string, Lender>,
): Promise<Lender[]> {
  const { rows } = await sql<{ code: string }>`
    select lender as code from core.source
     union
    select data ->> 'lenderConfig'
      from (select data from loanops.operation order by seq desc limit ${LAST_OPERATIONS}) last
     where data ->> 'lenderConfig' is not null`.execute(db)
  const used = new Set(rows.map(({ code }) => code))
  return chosenLenders(lenders, ({ code, isNamed }) => isNamed || used.has(code))
}
