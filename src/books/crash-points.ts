/** Where a process can die during a run that reads payments back. */
export const READBACK_CRASH_POINTS = [
  'readback.claimed',
  'readback.read',
  'readback.recording',
  'readback.recorded',
  'readback.unended',
] as const
