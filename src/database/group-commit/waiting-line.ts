/** A queue that hands out items of the same name one after another, each once the one before it has ended. */
export function openWaitingLine<T extends { names: string[] }>() {
  let waiting: T[] = []
  const taken = new Set<string>()
  const namesOf = (items: T[]) => items.flatMap(({ names }) => names)

  return {
    length: () => waiting.length,
    add: (item: T) => void waiting.push(item),
    /** Takes the items that wait longest, skipping those that must follow one taken or left behind. */
    take(max: number): T[] {
      const free: T[] = []
      const behind: T[] = []
      const blocked = new Set(taken)
      let seen = 0
      for (const item of waiting) {
        if (free.length === max) break
        seen++
        if (item.names.some(name => blocked.has(name))) {
          behind.push(item)
          for (const name of item.names) blocked.add(name)
        } else free.push(item)
      }
      waiting = [...behind, ...waiting.slice(seen)]
      for (const name of namesOf(free)) taken.add(name)
      return free
    },
    ended(items: T[]): void {
      for (const name of namesOf(items)) taken.delete(name)
    },
    /** Keeps the names of items that have not ended, until they are put back before all others. */
    keep(items: T[]): void {
      for (const name of namesOf(items)) taken.add(name)
    },
    putBack(items: T[]): void {
      for (const name of namesOf(items)) taken.delete(name)
      waiting = [...items, ...waiting]
    },
  }
}
