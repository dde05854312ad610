import { type Clock, systemClock } from 'pg-boss'

/**
 * The system's clock, but it never goes back: pg-boss rests until a time of its clock. If that was set back, its schedules
 * and checks would stop for as long.
 */
export function steadyClock(): Clock {
  let last = 0
  let lostMs = 0
  return {
    ...systemClock,
    now() {
      const now = Date.now()
      lostMs = Math.max(lostMs, last - now)
      last = now + lostMs
      return last
    },
  }
}
