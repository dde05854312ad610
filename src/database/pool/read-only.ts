import type { Socket } from 'node:net'
import type pg from 'pg'

/** SQLSTATE of a write where none is allowed, as on a standby. */
export const READ_ONLY = '25006'

export type PooledSession = { giveUp(): void }
/** What `pg` has in its clients, but does not declare. */
export type ClientInternals = {
  connection: NodeJS.EventEmitter & { stream: Socket }
  readyForQuery: boolean
}

const pools = new WeakMap<pg.ClientBase, Set<PooledSession>>()

/**
 * Once the server of a session refuses a write because it is read-only, all sessions of the pool are given up, each as
 * soon as its transaction has ended: after a failover, only a new session reaches the new primary.
 */
export function giveUpIfReadOnly(client: pg.ClientBase, pool: Set<PooledSession>): void {
  const session = client as unknown as ClientInternals
  const { connection } = session
  let isGivenUp = false
  let isInTransaction = false
  const own: PooledSession = {
    giveUp() {
      isGivenUp = true
      if (session.readyForQuery && !isInTransaction) end()
    },
  }
  pool.add(own)
  pools.set(client, pool)
  connection.stream.once('close', () => pool.delete(own))
  connection.on('errorMessage', ({ code }: pg.DatabaseError) => {
    if (code !== READ_ONLY) return
    for (const { giveUp } of pool) giveUp()
    // The refusal comes before the message that this session is ready, and is enough for the pool to lend it out again.
    if (!isInTransaction) end()
  })
  connection.on('readyForQuery', ({ status }: { status: string }) => {
    isInTransaction = status !== 'I'
    if (isGivenUp && !isInTransaction) end()
  })

  function end(): void {
    // The pool lets go of the session at once. It would hear from the socket only after it could have lent it out again.
    connection.emit('error', new Error('Connection terminated: the server is read-only'))
    connection.stream.destroy()
  }
}

/** Gives up the pool's sessions that are connected now. */
export function giveUpPoolOf(client: pg.ClientBase): void {
  for (const { giveUp } of pools.get(client) ?? []) giveUp()
}
