export const CALLBACK_CRASH_POINTS = [
  'callback.numbered',
  'callback.claimed',
  'callback.answered',
  'callback.recorded',
] as const
