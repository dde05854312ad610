type Endable = {
  run<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T>
  /** Ends the calls that are under way, as their time limit does. */
  end(): void
}

export function openEndable(): Endable {
  const underWay = new Set<AbortController>()

  return {
    async run(call) {
      const one = new AbortController()
      underWay.add(one)
      try {
        return await call(one.signal)
      } finally {
        underWay.delete(one)
      }
    },
    end() {
      for (const one of underWay) one.abort()
    },
  }
}
