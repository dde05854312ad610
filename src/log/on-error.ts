import type { Log } from './log.ts'

// Listeners that log an error under a message.

export const asError = (log: Pick<Log, 'error'>, message: string) => (error: unknown) =>
  log.error({ err: error }, message)

export const asWarning = (log: Pick<Log, 'warn'>, message: string) => (error: unknown) =>
  log.warn({ err: error }, message)
