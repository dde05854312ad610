import { runQueue } from '../../queue/run-queue.ts'

export const backfillQueue = runQueue('gateway-backfill')
