/** The words of PostgreSQL, MySQL and MariaDB, of their drivers and of pools, for what they cannot do for a while. */
const PHRASES = [
  /\bI\/O error/,
  /connection.*(closed|reset|refused|failed|not available)/,
  /\b(closed the connection|terminating connection|connection slots|link failure|broken pipe|socket)/,
  /\b(read-only|shutting down|starting up|recovery mode|too many (clients|connections))/,
  /\b(canceling statement|lock wait timeout|deadlock|could not serialize)/,
  /\b(no space left|out of (shared )?memory|is full$)/,
  // After a migration, or behind a pool that shares connections.
  /\b(cached plan|prepared statement)/,
].map(({ source }) => new RegExp(source, 'i'))

/** Whether a database says so of trouble that passes, and not of the values that it was given. */
export const isPassingTrouble = (message: string): boolean =>
  PHRASES.some(phrase => phrase.test(message)) && !/duplicate|violates/i.test(message)
