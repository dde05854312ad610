import type { WorkerContext } from '../../engine/feature.ts'
import type { Job } from '../../queue/job.ts'
import { copyConfirmation } from '../copy-confirmation.ts'
import { paymentCounters } from '../payment-signals.ts'
import { copyNetworks } from './copy-networks.ts'
import { workEvents } from './save-events.ts'

export async function runEvents(context: WorkerContext): Promise<Job> {
  const { db, patient, boss, config, metrics, log } = context
  // A changed setting marks all events that it concerns.
  await copyNetworks(patient, config)
  await copyConfirmation(patient, config)
  const { repeatedEvents } = metrics.of(paymentCounters)
  return workEvents(db, boss, {
    onRepeats: (gateway, repeats) => repeatedEvents.inc({ gateway }, repeats),
    log,
  })
}
