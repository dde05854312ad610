import pg from 'pg'
import { messageOf } from '../log/public-error.ts'

/** Errors of other sockets have the same codes, and say nothing about the database. */
const ofConnections = new WeakSet<Error>()

/** The class of every connection of this process: it remembers its errors, and none of them ends the process. */
export class Client extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config)
    this.connection.on('error', (error: Error) => {
      error.message = messageOf(error)
      ofConnections.add(error)
    })
  }

  /**
   * Behind a pooler, the loss of a server is reported twice. Pools and pg-boss listen until the first report, and Node
   * ends a process in which nobody listens.
   */
  override emit(event: string | symbol, ...values: unknown[]): boolean {
    const isUnheard = event === 'error' && this.listenerCount('error') === 0
    return !isUnheard && super.emit(event, ...values)
  }
}

// pg-boss opens the connection on which it listens by itself, as a pg.Client.
Object.assign(pg, { Client })

/** SQLSTATE classes: connection exception, insufficient resources, operator intervention. */
const CLASSES = ['08', '53', '57']
/**
 * A server that is read-only after a failover, idle in a transaction, a transaction or its lock out of time, serialization,
 * deadlock, an error of its disk.
 */
const STATES = ['25006', '25P03', '25P04', '40001', '40P01', '55P03', '58030']
/** Unless FATAL, a fault of our statement. As FATAL, it ended a new session, for which a full disk may have no room. */
const INTERNAL_ERROR = 'XX000'
const NETWORK =
  /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|E(HOST|NET)(UNREACH|DOWN))$/
/** The whole messages of errors of pg, of its pool and of ours that have no code. */
const LOST =
  /^(Connection terminated( unexpectedly| due to connection timeout|: .+)?|timeout expired|timeout exceeded when trying to connect|Client has encountered a connection error and is not queryable)$/

/** Whether a later try may succeed. Only an error without a code is recognised by its message, which may quote a caller. */
export function isTransient(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) {
    const { code = '', severity } = error
    if (code === INTERNAL_ERROR) return severity === 'FATAL'
    return CLASSES.includes(code.slice(0, 2)) || STATES.includes(code)
  }
  if (!(error instanceof Error)) return false
  const { code } = error as NodeJS.ErrnoException
  return code === undefined
    ? LOST.test(error.message)
    : NETWORK.test(code) && ofConnections.has(error)
}

/** Invalid authorization, no such database: no statement of ours has these, and a start does not wait for them to end. */
const REFUSED_LOGIN = /^(28...|3D000)$/
const NOT_ACCEPTING = /is not currently accepting connections$/

/** Whether PostgreSQL refused the login, or we its certificate, so that nothing was done. */
export function isLoginRefused(error: unknown): boolean {
  if (error instanceof pg.DatabaseError)
    return (
      REFUSED_LOGIN.test(error.code ?? '') ||
      (error.code === '55000' && NOT_ACCEPTING.test(error.message))
    )
  return isConnectionRefused(error)
}

/** What is wrong with a connection, such as its certificate, does not say whose it is. */
export const isConnectionRefused = (error: unknown): error is Error =>
  error instanceof Error && ofConnections.has(error) && !isTransient(error)

const QUERY_CANCELED = '57014'
const DEADLOCK = '40P01'
const LOCK_NOT_AVAILABLE = '55P03'

/** Whether PostgreSQL ended a statement because its time was up. */
export const isTimeout = (error: unknown) => hasState(error, QUERY_CANCELED)

/** Whether PostgreSQL ended one of two transactions because they waited for each other. */
export const isDeadlock = (error: unknown) => hasState(error, DEADLOCK)

/** Whether a lock was not free in time. */
export const isLocked = (error: unknown) => hasState(error, LOCK_NOT_AVAILABLE)

const hasState = (error: unknown, state: string): boolean =>
  error instanceof pg.DatabaseError && error.code === state
