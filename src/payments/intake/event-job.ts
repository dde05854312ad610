import type { WorkerContext } from '../../engine/feature.ts'
import type { Job } from '../../queue/job.ts'
import { paymentCounters } from '../payment-signals.ts'
import { takeConfirming } from '../take-confirming.ts'
import { allowNetworks } from './allow-networks.ts'
import { workEvents } from './save-events.ts'

export async function runEvents({ db, boss, config, metrics, log }: WorkerContext): Promise<Job> {
  await allowNetworks(db, config.lenders)
  await takeConfirming(db, config)
  const { repeatedEvents } = metrics.of(paymentCounters)
  return workEvents(db, boss, {
    onRepeats: (gateway, repeats) => repeatedEvents.inc({ gateway }, repeats),
    log,
  })
}
