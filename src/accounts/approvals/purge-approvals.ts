import { sql } from 'kysely'
import type { Config } from '../../config/config.ts'
import type { Database } from '../../database/database.ts'
import { purgeInSteps } from '../../database/purge-in-steps.ts'

/** Few enough rows that nobody notices their locks. */
const ROWS_PER_STATEMENT = 500

export async function purgeApprovals(
  db: Database,
  { OPERATION_RETENTION_DAYS: days }: Pick<Config, 'OPERATION_RETENTION_DAYS'>,
) {
  if (days === 0) return {}
  const approvals = await purgeInSteps(true, async () => {
    const { rows } = await sql<{ purged: number }>`
      select loanops.purge_approvals(${days}, ${ROWS_PER_STATEMENT}) as purged`.execute(db)
    const purged = rows[0]?.purged ?? 0
    return { purged, last: purged < ROWS_PER_STATEMENT ? null : true }
  })
  return { approvals }
}
