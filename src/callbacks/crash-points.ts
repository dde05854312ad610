/** Where a process can die while it delivers a callback. */
export const CALLBACK_CRASH_POINTS = [
  'callback.numbered',
  'callback.claimed',
  'callback.answered',
  'callback.recorded',
] as const
