import type { FastifyInstance } from 'fastify'
import type { PgBoss } from 'pg-boss'
import { type Databases, endLongStatements } from '../database/database.ts'
import type { Ledger } from '../ledger/calls/client.ts'
import type { Slots } from '../ledger/slots/slots.ts'
import type { Traces } from '../ops/traces/traces.ts'
import type { Job } from '../queue/job.ts'

/** A working ledger answers a read within this time. A read that is cut off is repeated after the restart. */
const READS_MAY_FINISH_MS = 3_000
/**
 * Fineract's own retries take over 3 s. A busy machine may need the rest of the 25 s that a stop may take, to record the
 * outcomes of the last calls.
 */
const CALLS_MAY_FINISH_MS = 15_000
/** After the calls, statements that may take long are ended too: one is begun again where its error may be temporary. */
const END_EVERY_MS = 1_000

type Parts = {
  app: FastifyInstance | undefined
  worker: Job | undefined
  ledger: Ledger
  slots: Slots
  watching: Job[]
  boss: PgBoss
  housekeeping: PgBoss
  pools: Databases
  traces: Traces
}

export async function stopInOrder({ app, worker, ledger, slots, ...parts }: Parts): Promise<void> {
  const { db, patient } = parts.pools
  let endStatements: NodeJS.Timeout | undefined
  const endReads = setTimeout(() => ledger.endReads(), READS_MAY_FINISH_MS)
  // The cut-off ends every wait for the ledger: of an operation, of the sweep's probe, of a dry run, of a check.
  const cutOff = setTimeout(() => {
    void ledger.cutOff()
    // Every task still waiting for a slot gets one, and finds that nothing can be sent.
    slots.resize({ total: Number.POSITIVE_INFINITY, bulk: Number.POSITIVE_INFINITY })
    endStatements = setInterval(
      () => void endLongStatements(patient, db).catch(() => undefined),
      END_EVERY_MS,
    )
  }, CALLS_MAY_FINISH_MS)
  await Promise.all([app?.close(), worker?.stop()])
  clearTimeout(endReads)
  clearTimeout(cutOff)
  clearInterval(endStatements)
  await ledger.close()
  await Promise.all(parts.watching.map(job => job.stop()))
  const queues = [parts.boss, parts.housekeeping]
  await Promise.all(queues.map(queue => queue.stop({ graceful: false })))
  await Promise.all([patient.destroy(), db.destroy(), parts.traces.stop()])
}
