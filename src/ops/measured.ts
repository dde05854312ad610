import type { RawBuilder } from 'kysely'
import { Counter, Gauge, type Registry } from 'prom-client'
import type { Database } from '../database/database.ts'
import type { Log } from '../log/log.ts'
import { type Job, together } from '../queue/job.ts'
import { measureEvery } from './measure-every.ts'

type Metric = {
  name: string
  help: string
  labels?: readonly string[]
  /** The number is counted in the database, by whichever process did what is counted. */
  isTotal?: true
}

/** Metrics read from the database. Each row of the query has a column for each label and metric; equal labels add up. */
export type Measured = { metrics: Record<string, Metric>; query: RawBuilder<unknown> }

type Context = { metrics: { registry: Registry }; patient: Database; log: Pick<Log, 'warn'> }

/** Each query has rounds of its own: one that fails, or waits for a lock, leaves the figures of the others. */
export function measure(measured: Measured[], everyMs?: number): (context: Context) => Job {
  return ({ metrics: { registry }, patient: db, log }) => {
    const jobs = measured.map(({ metrics, query }) => {
      const opened = Object.entries(metrics).map(metric => openMetric(metric, registry))
      const refresh = async () => {
        const { rows } = await query.execute(db)
        for (const { show } of opened) show(rows as Row[])
      }
      const forget = () => {
        for (const { forget } of opened) forget()
      }
      return measureEvery({ refresh, forget }, log, everyMs)
    })
    return together(jobs)
  }
}

type Row = Record<string, string | number | null>

function openMetric([column, metric]: [string, Metric], registry: Registry) {
  const { name, help, labels = [], isTotal } = metric
  const opened = new (isTotal ? Counter : Gauge)({
    name,
    help,
    labelNames: labels,
    registers: [registry],
  })
  return {
    show(rows: Row[]) {
      opened.reset()
      for (const row of rows) {
        const value = row[column]
        const series = Object.fromEntries(labels.map(label => [label, String(row[label])]))
        if (value != null) opened.inc(series, Number(value))
      }
    },
    forget() {
      opened.reset()
      // Without labels, a reset leaves a 0.
      if (labels.length === 0) opened.remove()
    },
  }
}
