export type Job = {
  /** Takes no more work; resolves once the work in progress has ended. */
  stop(): void | Promise<void>
}
