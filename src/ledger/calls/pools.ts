import type { Pool } from 'undici'

export function openPools(open: () => Pool) {
  const pools = new Set<Pool>()
  let current = next()

  return {
    async use<T>(run: (pool: Pool) => Promise<T>): Promise<T> {
      const { pool, calls } = current
      const call = { at: performance.now() }
      calls.add(call)
      try {
        return await run(pool)
      } finally {
        calls.delete(call)
      }
    },
    hasHung: (ms: number) => [...current.calls].some(({ at }) => performance.now() - at > ms),
    reconnect(): void {
      const { pool } = current
      current = next()
      void closed(pool)
    },
    close: () => each(closed),
    cutOff: () => each(pool => pool.destroy()),
  }

  function next() {
    const pool = open()
    pools.add(pool)
    return { pool, calls: new Set<{ at: number }>() }
  }

  async function closed(pool: Pool): Promise<void> {
    if (!pool.closed && !pool.destroyed) await pool.close()
    pools.delete(pool)
  }

  async function each(end: (pool: Pool) => Promise<void>): Promise<void> {
    await Promise.all([...pools].map(end))
  }
}
