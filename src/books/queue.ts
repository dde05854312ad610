import { runQueue } from '../queue/run-queue.ts'

/** Wakes the worker that reads payments back. */
export const readbackQueue = runQueue('readback')
