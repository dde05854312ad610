import { sql } from 'kysely'
import { type PurgeRun, purgeAll } from '../../database/purge-in-steps.ts'

export const purgeApprovals: PurgeRun = (db, retentionDays, stopping) =>
  purgeAll(async most => {
    const { rows } = await sql<{ purged: number }>`
      select loanops.purge_approvals(${retentionDays}, ${most}) as purged`.execute(db)
    return rows[0]?.purged ?? 0
  }, stopping)

export const approvalsFeature = {
  crashPoints: ['approval.ended', 'approval.done', 'approval.committed'],
  purge: { setting: 'OPERATION_RETENTION_DAYS', kind: 'approvals', run: purgeApprovals },
} as const
