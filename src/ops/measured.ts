import type { RawBuilder } from 'kysely'
import { Counter, Gauge, type Registry } from 'prom-client'
import type { Database } from '../database/database.ts'
import type { Log } from '../log/log.ts'
import type { Job } from '../queue/job.ts'
import { measureEvery } from './measure-every.ts'

type Metric = {
  name: string
  help: string
  labels?: readonly string[]
  /** The number is counted in the database, by whichever process did what is counted. */
  isTotal?: true
}

/** Metrics read from the database. Each row of the query has a column for each label and metric; equal labels add up. */
export type Measured = {
  metrics: Record<string, Metric>
  query: RawBuilder<unknown>
}

type Context = { metrics: { registry: Registry }; patient: Database; log: Pick<Log, 'warn'> }

export function measure(measured: Measured[], everyMs?: number): (context: Context) => Job {
  return ({ metrics: { registry }, patient: db, log }) => {
    const opened = measured.map(({ metrics, query }) => ({
      query,
      metrics: Object.entries(metrics).map(metric => openMetric(metric, registry)),
    }))
    const refresh = async () => {
      const shows: (() => void)[] = []
      for (const { query, metrics } of opened) {
        const { rows } = await query.execute(db)
        shows.push(
          ...metrics.map(
            ({ show }) =>
              () =>
                show(rows as Row[]),
          ),
        )
      }
      // All together: what a round that fails had shown would be forgotten by nobody.
      for (const show of shows) show()
    }
    const forget = () => {
      for (const { forget } of opened.flatMap(({ metrics }) => metrics)) forget()
    }
    return measureEvery({ refresh, forget }, log, everyMs)
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
