/**
 * A reading of the ledger's set-up serves for this time if it may be what makes an operation wait: a correction at
 * the ledger must count soon, but a wrong setting must not cause a read for each operation.
 */
export const CORRECTED_WITHIN_MS = 2_000

type Cached<Value> = { value: Promise<Value>; readAt: number }

/**
 * One read serves all callers that need it at the time. A read that failed is not cached.
 * @param ms how long a read serves, counted from when it began
 */
export function cached<Key, Value>(
  ms: number,
  read: (key: Key) => Promise<Value>,
): (key: Key) => Promise<Value> {
  const known = new Map<Key, Cached<Value>>()

  return key => {
    const before = known.get(key)
    if (before !== undefined && performance.now() - before.readAt < ms) return before.value
    const now = { value: read(key), readAt: performance.now() }
    known.set(key, now)
    now.value.catch(() => {
      if (known.get(key) === now) known.delete(key)
    })
    return now.value
  }
}
