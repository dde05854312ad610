/** Thirty years: no caller waits that long, and a time so far away still fits a date. */
const MAX_SECONDS = 1_000_000_000

/** In seconds or as a date; 0 if there is none that can be read. */
export function retryAfterMs(header: string | undefined, now = Date.now()): number {
  if (header === undefined) return 0
  if (/^\d+$/.test(header.trim())) return Math.min(Number(header), MAX_SECONDS) * 1_000
  const at = Date.parse(header)
  return Number.isNaN(at) ? 0 : Math.max(0, at - now)
}
