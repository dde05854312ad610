import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { buildApi } from './api.ts'
import type { Config } from './config/config.ts'
import { version } from './config/version.ts'
import { tablesPresent } from './database/migrate/migrate.ts'
import { openWatch } from './database/watch.ts'
import { whenUp } from './database/when-up.ts'
import { ledgerReport } from './engine/ledger-report.ts'
import { watchPauses } from './engine/pause.ts'
import { openProcessMetrics } from './engine/process-metrics.ts'
import { asError } from './log/log.ts'
import { health, isReady } from './ops/health.ts'
import { openMetrics } from './ops/metrics.ts'
import { showReadiness } from './ops/show-readiness.ts'
import { openTraces } from './ops/traces/open-traces.ts'
import type { Job } from './queue/job.ts'
import { openHousekeeping, openQueue } from './queue/queue.ts'
import { openDatabases } from './start/databases.ts'
import { openLedgerWithSlots } from './start/ledger.ts'
import { listen } from './start/listen.ts'
import { stopInOrder } from './start/stop.ts'
import { allCounters, allReports, prepareAll, startWorker } from './worker.ts'

type Service = { url: string; close(): Promise<void> }

export function startRole(config: Config, log: FastifyBaseLogger, stopping?: AbortSignal) {
  const { ROLE: role, shown: settings } = config
  log.info({ version, node: process.versions.node, role, settings }, 'LoanOps starts')
  for (const warning of config.warnings) log.warn(warning)
  return whenUp(() => startParts(config, log), log, stopping)
}

async function startParts(config: Config, log: FastifyBaseLogger): Promise<Service> {
  const { DATABASE_URL: url, ROLE: role } = config
  const isWorker = role !== 'api'
  const name = `loanops-${role}`
  const onError = asError(log, 'job queue error')

  const pools = await openDatabases(config, name, log)
  const { db, patient } = pools
  const boss = openQueue(url, { isWorker, name, onError })
  const metrics = openMetrics(allCounters)
  const watch = openWatch(undefined, (of, ms) => metrics.commitWait.observe({ of }, ms / 1_000))
  const traces = await openTraces(config, log)
  const { ledger, slots, tending } = openLedgerWithSlots(db, config, metrics, log)
  const pauses = watchPauses(db, log)
  const own = { isMigrated: tablesPresent(), watch }
  const readiness = showReadiness(metrics.registry, role, () => isReady(db, own), log)
  openProcessMetrics([metrics.registry], { role, pools, ledger, slots, pauses })
  const housekeeping = openHousekeeping(url, { name, onError })

  let app: FastifyInstance | undefined
  let worker: Job | undefined
  const shared = { db, boss, metrics, watch, traces, ledger, slots, pauses }
  const watching = [pauses, ...tending, readiness]
  const close = () => stopInOrder({ ...shared, app, worker, watching, housekeeping, pools })
  const report = health(db, {
    ...own,
    ledger: ask => ledgerReport(ask, worker && ledger.breaker.state()),
    reports: allReports(config),
  })
  try {
    app = await buildApi({ ...shared, health: report }, config, log)
    await prepareAll(patient, config)
    await boss.start()
    // The process listens before it takes any work: one that cannot listen must not claim anything.
    const address = await listen(app, config)
    if (isWorker) {
      worker = await startWorker({ ...shared, patient, log }, config)
      await housekeeping.start()
    }
    return { url: address, close }
  } catch (error) {
    await close()
    throw error
  }
}
