import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { purgeAll } from '../../database/purge-in-steps.ts'

export function purgeApprovals(
  db: Database,
  retentionDays: number,
  stopping?: AbortSignal,
): Promise<number> {
  return purgeAll(async most => {
    const { rows } = await sql<{ purged: number }>`
      select loanops.purge_approvals(${retentionDays}, ${most}) as purged`.execute(db)
    return rows[0]?.purged ?? 0
  }, stopping)
}
