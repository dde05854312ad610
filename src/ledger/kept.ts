/**
 * What was read of the ledger's set-up serves no longer if it may be what makes an operation wait: corrected there, it must
 * count soon. Long enough that a wrong setting does not cause a read for each operation.
 */
export const CORRECTED_WITHIN_MS = 2_000

type Kept<Value> = { value: Promise<Value>; readAt: number }

/**
 * One read serves all that need it at the time. One that failed is not kept.
 * @param ms how long it serves, counted from when it began
 */
export function kept<Key, Value>(
  ms: number,
  read: (key: Key) => Promise<Value>,
): (key: Key) => Promise<Value> {
  const known = new Map<Key, Kept<Value>>()

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
