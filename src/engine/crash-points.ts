export const ENGINE_CRASH_POINTS = [
  'intake.committed',
  'claim.committed',
  'start.committed',
  'look.answered',
  'remember.committed',
  'write.unrecorded',
  'write.unsent',
  'write.answered',
  'finish.committed',
  'wake.client-done',
  'stop.handing-back',
] as const
