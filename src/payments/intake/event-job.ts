import type { WorkerContext } from '../../engine/feature.ts'
import type { Job } from '../../queue/job.ts'
import { copyConfirmation } from '../copy-confirmation.ts'
import { paymentCounters } from '../payment-signals.ts'
import { copyNetworks } from './copy-networks.ts'
import { workEvents } from './save-events.ts'

export async function runEvents({ db, boss, config, metrics, log }: WorkerContext): Promise<Job> {
  await copyNetworks(db, config.lenders)
  await copyConfirmation(db, config)
  const { repeatedEvents } = metrics.of(paymentCounters)
  return workEvents(db, boss, {
    onRepeats: (gateway, repeats) => repeatedEvents.inc({ gateway }, repeats),
    log,
  })
}
