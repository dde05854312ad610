type Endable = {
  run<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T>
  /** Ends the calls that are under way, as their time limit does, and each later one at once. */
  end(): void
}

export function openEndable(): Endable {
  const underWay = new Set<AbortController>()
  let isOver = false

  return {
    async run(call) {
      const one = new AbortController()
      underWay.add(one)
      if (isOver) one.abort()
      try {
        return await call(one.signal)
      } finally {
        underWay.delete(one)
      }
    },
    end() {
      isOver = true
      for (const one of underWay) one.abort()
    },
  }
}
