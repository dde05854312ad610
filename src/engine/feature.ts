import type { FastifyBaseLogger } from 'fastify'
import type { PgBoss } from 'pg-boss'
import type { Config } from '../config/config.ts'
import type { Database, Databases, Trx } from '../database/database.ts'
import type { PurgeRun } from '../database/purge-in-steps.ts'
import type { Watch } from '../database/watch.ts'
import type { Ledger } from '../ledger/calls/client.ts'
import type { ReferenceData } from '../ledger/reference/reference.ts'
import type { Slots } from '../ledger/slots/slots.ts'
import type { Ask } from '../ops/health.ts'
import type { Metrics, OpenCounters } from '../ops/metrics.ts'
import type { Traces } from '../ops/traces/traces.ts'
import type { Job } from '../queue/job.ts'
import type { Queue } from '../queue/queue.ts'
import type { SetUpBehind } from './attempt/running-attempt.ts'
import type { Final, OnFinal } from './finish/finish.ts'
import type { Catalogue, Operation } from './operation.ts'
import type { Origin } from './origin.ts'
import type { Pauses } from './pause.ts'

/** What each process opens; the rest of the context is made of it. */
export type WorkerServices = Databases & {
  boss: PgBoss
  metrics: Metrics
  watch: Watch
  traces: Traces
  log: FastifyBaseLogger
  ledger: Ledger
  slots: Slots
  pauses: Pauses
}

export type WorkerContext = WorkerServices & {
  config: Config
  reference: ReferenceData
  catalogue: Catalogue
  runnable: Catalogue
  setUpBehind: SetUpBehind
  onFinal: OnFinal
  purges: Purge[]
}

type StartJob = (context: WorkerContext) => Job | Promise<Job>

export type Feature = {
  queues?: Queue<object>[]
  operations?(db: Database, config: Config): Operation[]
  /** Runs before a process, whatever its role, takes any work. */
  prepare?(db: Database, config: Config): Promise<void>
  jobs?: StartJob[]
  gauges?: StartJob[]
  counters?: OpenCounters
  /** The feature's part of readyz; it never affects readiness. */
  report?(ask: Ask, config: Config): Promise<Record<string, unknown>>
  crashPoints?: readonly string[]
  /** `record` gets the operations of these origins. If `api` is one of them, every live result takes two more round trips. */
  onFinal?: {
    origins: readonly Origin[]
    record(trx: Trx, final: Final[], metrics: Metrics): Promise<() => void>
  }
  noteFinal?(final: Final[], metrics: Metrics): void
  purge?: Purge
}

/** Deletes what is older than the setting allows; 0 keeps everything. */
export type Purge = {
  setting: keyof Config & `${string}_RETENTION_DAYS`
  kind: string
  run: PurgeRun
}
