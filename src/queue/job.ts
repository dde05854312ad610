export type Job = { stop(): void | Promise<void> }
