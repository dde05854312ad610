/** Loads once for all who ask within `freshMs`. */
export function sharedLoad<T>(freshMs: number, load: () => Promise<T>) {
  let last: { at: number; result: Promise<T> } | undefined
  const shared = () => {
    if (last === undefined || performance.now() - last.at > freshMs) {
      const result = load()
      const mine = { at: performance.now(), result }
      last = mine
      result.catch(() => {
        if (last === mine) last = undefined
      })
    }
    return last.result
  }
  return Object.assign(shared, {
    forget() {
      last = undefined
    },
  })
}
