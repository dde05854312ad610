import { runQueue } from '../queue/run-queue.ts'

/** Wakes whoever reads payments back. */
export const readbackQueue = runQueue('readback')
