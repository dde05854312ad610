/** Work that goes on until it is stopped. */
export type Job = {
  /** Takes nothing more; resolves once what is under way has ended. */
  stop(): void | Promise<void>
}
