import { runQueue } from '../../queue/run-queue.ts'

export const readbackQueue = runQueue('readback')
