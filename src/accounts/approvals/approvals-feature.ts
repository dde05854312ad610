import { purgeApprovals } from './purge-approvals.ts'

export const APPROVAL_CRASH_POINTS = [
  'approval.ended',
  'approval.done',
  'approval.committed',
] as const

export const approvalsFeature = {
  crashPoints: APPROVAL_CRASH_POINTS,
  purge: { setting: 'OPERATION_RETENTION_DAYS', kind: 'approvals', run: purgeApprovals },
} as const
