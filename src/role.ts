import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { ensureFirstAdmin } from './accounts/first-admin.ts'
import { buildApi } from './api.ts'
import type { Config } from './config/config.ts'
import { version } from './config/version.ts'
import {
  type Database,
  type DatabaseOptions,
  logLosses,
  openDatabase,
} from './database/database.ts'
import { requireUpToDate, tablesPresent } from './database/migrate/migrate.ts'
import { LONG_STATEMENT_MS } from './database/pool/pool-config.ts'
import { requireWritable } from './database/require-writable.ts'
import { openWatch, type Watch } from './database/watch.ts'
import { whenUp } from './database/when-up.ts'
import { ledgerReport } from './engine/ledger-report.ts'
import { watchPauses } from './engine/pause.ts'
import { openProcessMetrics } from './engine/process-metrics.ts'
import { namingSetting } from './http/connections/naming-setting.ts'
import { backlog } from './http/limits.ts'
import { type Ledger, openLedger } from './ledger/calls/client.ts'
import { warnOfRefusals } from './ledger/calls/warn-of-refusals.ts'
import { watchCase } from './ledger/calls/watch-case.ts'
import { isLoginFoundRight } from './ledger/check/saved-findings.ts'
import { passHungCalls } from './ledger/slots/hung-calls.ts'
import { shareSlots } from './ledger/slots/share-slots.ts'
import { openSlots, type Slots } from './ledger/slots/slots.ts'
import { asError } from './log/log.ts'
import { type Health, health, isReady } from './ops/health.ts'
import { type Metrics, openMetrics } from './ops/metrics.ts'
import { listenForOps } from './ops/ops-port.ts'
import { showReadiness } from './ops/show-readiness.ts'
import { openTraces } from './ops/traces/open-traces.ts'
import type { Job } from './queue/job.ts'
import { openHousekeeping, openQueue } from './queue/queue.ts'
import { stopInOrder } from './stop.ts'
import { allCounters, allReports, prepareAll, startWorker, type Worker } from './worker.ts'

/**
 * Statements of a batch, a read-back, a run of a migration, the gauges and the purge run at the same time. The
 * figures of days, fetches from the gateways and dry runs may wait for one of these.
 */
const MAX_CONCURRENT_LONG_STATEMENTS = 5

type Service = { url: string; close(): Promise<void> }

export function startRole(config: Config, log: FastifyBaseLogger, stopping?: AbortSignal) {
  const { ROLE: role, shown: settings } = config
  log.info({ version, node: process.versions.node, role, settings }, 'LoanOps starts')
  for (const warning of config.warnings) log.warn(warning)
  return whenUp(() => startParts(config, log), log, stopping)
}

async function startParts(config: Config, log: FastifyBaseLogger): Promise<Service> {
  const isWorker = config.ROLE !== 'api'
  const name = `loanops-${config.ROLE}`
  const onError = logLosses(log)

  const db = await openMigratedDatabase(config, { name, onError })
  const onQueueError = asError(log, 'job queue error')
  const boss = openQueue(config.DATABASE_URL, { isWorker, name, onError: onQueueError })

  const metrics = openMetrics(allCounters)
  const watch = openWatch(undefined, (of, ms) => metrics.commitWait.observe({ of }, ms / 1_000))
  const traces = await openTraces(config, log)
  const ledger = openMeasuredLedger(db, config, metrics, log)
  // Everything in this process that calls the ledger shares these slots.
  const slots = openSlots(config.LEDGER_CONCURRENCY)
  const pauses = watchPauses(db, log)
  const watching = [pauses, ...tendSlots({ db, ledger, slots }, config, log)]
  let worker: Worker | undefined
  const readiness = openHealth(db, config, watch, () => worker?.breakerState())
  const own = { isMigrated: tablesPresent(), watch }
  watching.push(showReadiness(metrics.registry, config.ROLE, () => isReady(db, own), log))
  const shared = { db, boss, metrics, watch, traces, ledger, slots, pauses }
  const patient = openDatabase(config.DATABASE_URL, {
    max: MAX_CONCURRENT_LONG_STATEMENTS,
    name: `${name}-patient`,
    onError,
    statementMs: LONG_STATEMENT_MS,
  })
  const pools = { db, patient }
  openProcessMetrics([metrics.registry], { role: config.ROLE, pools, ledger, slots, pauses })
  const housekeeping = openHousekeeping(config.DATABASE_URL, { name, onError: onQueueError })
  let app: FastifyInstance | undefined
  const close = () => stopInOrder({ ...shared, app, worker, watching, housekeeping, pools })
  try {
    app = await buildApi({ ...shared, health: readiness }, config, log)
    await prepareAll(patient, config)
    await boss.start()
    // The process listens before it takes any work: one that cannot listen must not claim anything.
    const url = await listen(app, config)
    if (isWorker) {
      worker = await startWorker({ ...shared, patient, log }, config)
      await housekeeping.start()
    }
    return { url, close }
  } catch (error) {
    await close()
    throw error
  }
}

async function listen(app: FastifyInstance, { HOST: host, PORT: port, OPS_PORT: opsPort }: Config) {
  if (opsPort !== undefined)
    await namingSetting(
      { setting: 'OPS_PORT', host, port: opsPort },
      listenForOps(app, { host, port: opsPort }),
    )
  return namingSetting({ setting: 'PORT', host, port }, app.listen({ host, port, backlog }))
}

function openHealth(
  db: Database,
  config: Config,
  watch: Watch,
  breakerState: () => object | undefined,
): Health {
  return health(db, {
    isMigrated: tablesPresent(),
    watch,
    ledger: ask => ledgerReport(ask, breakerState()),
    reports: allReports(config),
  })
}

function tendSlots(
  { db, ledger, slots }: { db: Database; ledger: Ledger; slots: Slots },
  { LEDGER_CONCURRENCY: most, LEDGER_CONCURRENCY_TOTAL: total }: Config,
  log: FastifyBaseLogger,
): Job[] {
  const passing = passHungCalls(ledger, slots, log)
  return total === undefined ? [passing] : [passing, shareSlots(db, slots, { most, total, log })]
}

function openMeasuredLedger(
  db: Database,
  config: Config,
  metrics: Metrics,
  log: FastifyBaseLogger,
): Ledger {
  const ledger = openLedger(
    config,
    call => metrics.unanswered.during('ledger', call),
    withinMs => isLoginFoundRight(db, withinMs),
  )
  watchCase(metrics.registry, ledger, log)
  warnOfRefusals(ledger, log)
  return ledger
}

async function openMigratedDatabase(
  config: Config,
  options: Pick<DatabaseOptions, 'name' | 'onError'>,
): Promise<Database> {
  const db = openDatabase(config.DATABASE_URL, {
    max: config.DATABASE_POOL_MAX,
    // The engine's statements run for a few operations at a time: planning them costs as much as running them.
    keepsPlans: true,
    avoidsScans: config.ROLE !== 'api',
    ...options,
  })
  try {
    await requireWritable(db)
    await requireUpToDate(db)
    if (config.ROLE !== 'worker') await ensureFirstAdmin(db, config)
    return db
  } catch (error) {
    await db.destroy()
    throw error
  }
}
