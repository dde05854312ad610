import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config/config.ts'
import type { Database } from '../database/database.ts'
import { openLedger } from '../ledger/calls/client.ts'
import { warnOfRefusals } from '../ledger/calls/warn-of-refusals.ts'
import { watchCase } from '../ledger/calls/watch-case.ts'
import { isLoginFoundRight } from '../ledger/check/saved-findings.ts'
import { passHungCalls } from '../ledger/slots/hung-calls.ts'
import { shareSlots } from '../ledger/slots/share-slots.ts'
import { openSlots } from '../ledger/slots/slots.ts'
import type { Metrics } from '../ops/metrics.ts'

/** Opens the ledger, and the slots that everything in this process that calls it shares. */
export function openLedgerWithSlots(
  db: Database,
  config: Config,
  metrics: Metrics,
  log: FastifyBaseLogger,
) {
  const { LEDGER_CONCURRENCY: most, LEDGER_CONCURRENCY_TOTAL: total } = config
  const ledger = openLedger(
    config,
    call => metrics.unanswered.during('ledger', call),
    withinMs => isLoginFoundRight(db, withinMs),
  )
  watchCase(metrics.registry, ledger, log)
  warnOfRefusals(ledger, log)
  const slots = openSlots(most)
  const tending = [passHungCalls(ledger, slots, log)]
  if (total !== undefined) tending.push(shareSlots(db, slots, { most, total, log }))
  return { ledger, slots, tending }
}
