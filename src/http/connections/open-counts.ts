/** A count per key, which holds no key whose count is back at zero. */
export function openCounts() {
  const counts = new Map<string, number>()
  const of = (key: string) => counts.get(key) ?? 0
  return {
    of,
    add(key: string, more: number): void {
      const count = of(key) + more
      if (count === 0) counts.delete(key)
      else counts.set(key, count)
    },
  }
}
