/** Slow loads are cached longer, so that loading takes at most 0.5 % of the time. */
const MAX_SHARE_OF_TIME = 0.005

/**
 * A function that loads at most once per `freshMs`, however many viewers ask; less often, up to `maxAgeMs`, if
 * loading takes long.
 */
export function sharedLoad<T>(freshMs: number, maxAgeMs: number) {
  const loads = new Map<string, { until: number; result: Promise<T> }>()
  return {
    get(key: string, load: () => Promise<T>): Promise<T> {
      const now = performance.now()
      for (const [of, { until }] of loads) if (now > until) loads.delete(of)
      const known = loads.get(key)
      if (known !== undefined) return known.result
      const mine = { until: now + freshMs, result: load() }
      loads.set(key, mine)
      mine.result.then(
        () => {
          const restMs = (performance.now() - now) / MAX_SHARE_OF_TIME
          mine.until = now + Math.min(Math.max(restMs, freshMs), maxAgeMs)
        },
        () => {
          if (loads.get(key) === mine) loads.delete(key)
        },
      )
      return mine.result
    },
    forget: () => loads.clear(),
  }
}
