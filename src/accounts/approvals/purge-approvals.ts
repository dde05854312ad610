import { sql } from 'kysely'
import type { Config } from '../../config/config.ts'
import type { Database } from '../../database/database.ts'
import { purgeAll } from '../../database/purge-in-steps.ts'

export async function purgeApprovals(
  db: Database,
  { OPERATION_RETENTION_DAYS: days }: Pick<Config, 'OPERATION_RETENTION_DAYS'>,
) {
  if (days === 0) return {}
  const approvals = await purgeAll(async most => {
    const { rows } = await sql<{ purged: number }>`
      select loanops.purge_approvals(${days}, ${most}) as purged`.execute(db)
    return rows[0]?.purged ?? 0
  })
  return { approvals }
}
