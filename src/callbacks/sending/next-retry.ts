const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** The first ones outlast a restart of the receiver, and all of them together, 75 hours, a weekend without anybody at work. */
const RETRY_AFTER_MS = [
  5 * SECOND_MS,
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
]
/** The random part keeps callbacks that failed together from being retried together. */
const JITTER = 0.2
/** A receiver's `Retry-After` delays its callbacks, but not by days. */
const MAX_EXTENSION_MS = 2 * HOUR_MS

/** @returns undefined if the schedule is exhausted */
export function nextRetryMs(retries: number, askedMs = 0, random = Math.random()) {
  const scheduled = RETRY_AFTER_MS[retries]
  if (scheduled === undefined) return undefined
  const ms = scheduled + scheduled * JITTER * (2 * random - 1)
  return Math.max(ms, Math.min(askedMs, scheduled + MAX_EXTENSION_MS))
}
