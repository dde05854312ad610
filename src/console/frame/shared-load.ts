export function sharedLoad<T>(freshMs: number) {
  const loads = new Map<string, { at: number; result: Promise<T> }>()
  return {
    get(key: string, load: () => Promise<T>): Promise<T> {
      const now = performance.now()
      for (const [of, { at }] of loads) if (now - at > freshMs) loads.delete(of)
      const known = loads.get(key)
      if (known !== undefined) return known.result
      const mine = { at: now, result: load() }
      loads.set(key, mine)
      mine.result.catch(() => {
        if (loads.get(key) === mine) loads.delete(key)
      })
      return mine.result
    },
    forget: () => loads.clear(),
  }
}
