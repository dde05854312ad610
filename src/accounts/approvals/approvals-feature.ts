import { purgeApprovals } from './purge-approvals.ts'

export const approvalsFeature = {
  crashPoints: ['approval.ended', 'approval.done', 'approval.committed'],
  purge: { setting: 'OPERATION_RETENTION_DAYS', kind: 'approvals', run: purgeApprovals },
} as const
