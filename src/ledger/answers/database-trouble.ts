/** The words of PostgreSQL, MySQL, MariaDB and its clusters, of their drivers, proxies and pools, for what they cannot do for a while. */
const PHRASES = [
  /\bI\/O error/i,
  /connection.*(closed|reset|refused|failed|failure|killed|not available)/i,
  /\b(closed the connection|terminating connection|connection slots|link failure|broken pipe|socket|lost connection|WSREP)/i,
  /\b(read-only|shutting down|shutdown in progress|starting up|recovery mode|accepting connections|too many (clients|connections))/i,
  /\b(canceling statement|query execution was interrupted|lock wait timeout|deadlock|could not serialize)/i,
  /\b(no space left|out of (shared )?memory|is full$)/i,
  // After a migration, or behind a pool that shares connections.
  /\b(cached plan|prepared statement)/i,
]

/** Whether this message of a database is about trouble that passes, rather than about the values in a statement. */
export const isPassingTrouble = (message: string): boolean =>
  PHRASES.some(phrase => phrase.test(message)) && !/duplicate|violates/i.test(message)
