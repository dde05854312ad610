export type Job = { stop(): void | Promise<void> }

/** The jobs stop in parallel: each may wait for its own calls, and none may start anything new in the meantime. */
export const together = (jobs: Job[]): Job => ({
  async stop() {
    await Promise.all(jobs.map(job => job.stop()))
  },
})
