import { Gauge, type Registry } from 'prom-client'
import { asWarning, type Log } from '../log/log.ts'
import { type Job, startLoop } from '../queue/job.ts'

/** With the time that an answer may take, an outage shows within 10 s. */
const EVERY_MS = 5_000

/**
 * While the database is away, only this gauge shows it. It does not ask at the scrape, where callers who wait for a
 * connection would be its own.
 */
export function showReadiness(
  registry: Registry,
  role: string,
  isReady: () => Promise<boolean>,
  log: Pick<Log, 'warn'>,
): Job {
  const ready = new Gauge({
    name: 'loanops_ready',
    help: '1 for each process that readyz finds ready, 0 for any other, by its role',
    labelNames: ['role'],
    registers: [registry],
  })
  const look = async () => ready.set({ role }, Number(await isReady()))
  const onError = asWarning(log, 'readiness could not be determined')
  return startLoop({ everyMs: EVERY_MS, onError }, look)
}
