import type { Pool } from 'undici'

export type Pools = {
  use<T>(call: (pool: Pool) => Promise<T>): Promise<T>
  hasHung(ms: number): boolean
  reconnect(): void
  close(): Promise<void>
  cutOff(): Promise<void>
}

export function openPools(open: () => Pool): Pools {
  const pools = new Set<Pool>()
  let current = next()

  return {
    async use(run) {
      const { pool, calls } = current
      const call = { at: performance.now() }
      calls.add(call)
      try {
        return await run(pool)
      } finally {
        calls.delete(call)
      }
    },
    hasHung: ms => [...current.calls].some(({ at }) => performance.now() - at > ms),
    reconnect() {
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
