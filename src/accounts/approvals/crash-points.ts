export const APPROVAL_CRASH_POINTS = [
  'approval.ended',
  'approval.done',
  'approval.committed',
] as const
