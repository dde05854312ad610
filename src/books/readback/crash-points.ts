export const READBACK_CRASH_POINTS = [
  'readback.claimed',
  'readback.read',
  'readback.recording',
  'readback.recorded',
  'readback.unended',
] as const
