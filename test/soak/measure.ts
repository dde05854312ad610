import { sql } from 'kysely'
import type { Database } from '../../src/database/database.ts'
import { quantile } from '../bench/fire.ts'
import { until } from '../support/until.ts'
import type { Installation } from './installation.ts'
import { cpuSoFar } from './processes.ts'
import { sampleForAMinute } from './sample.ts'
import type { Accepted } from './send-operations.ts'
import { tableFigures } from './tables.ts'
import {
  CONNECTIONS,
  CPU_MS,
  HEAP,
  JOBS,
  MEDIAN_MS,
  QUEUE_VIEW_MS,
  RESIDENT,
  SLOWEST_MS,
} from './tolerances.ts'
import type { Figure } from './verdict.ts'

const nameOf = (part: number) => `submit to final, p${part * 100}`
export const MEDIAN = nameOf(0.5)

/** Measures for a minute, under load, everything that has to stay flat. */
export async function measure(
  installation: Installation,
  accepted: readonly Accepted[],
): Promise<Figure[]> {
  const { db, places } = installation
  const first = accepted.length
  const cpuBefore = cpuSoFar(installation)
  const samples = await sampleForAMinute(installation)
  const cpu = cpuSoFar(installation)
  const operations = accepted.length - first
  const took = await submitToFinal(db, accepted.slice(first))
  const least = (values: number[]) => Math.min(...values)
  const most = (values: number[]) => Math.max(...values)
  const tables = samples.map(sample => sample.tables)
  return [
    ...[0.5, 0.95, 0.99].map(part => ({
      what: nameOf(part),
      unit: 'ms' as const,
      value: quantile(took, part),
      tolerance: part === 0.5 ? MEDIAN_MS : SLOWEST_MS,
    })),
    {
      what: 'ops.queue, least',
      unit: 'ms',
      value: least(samples.map(sample => sample.queueViewMs)),
      tolerance: QUEUE_VIEW_MS,
    },
    ...[...cpu].map(([name, ms]) => ({
      what: `${name}: CPU per operation`,
      unit: 'ms' as const,
      value: (ms - (cpuBefore.get(name) ?? 0)) / operations,
      tolerance: CPU_MS,
    })),
    ...places.flatMap(({ role }): Figure[] => {
      const memory = samples.flatMap(sample => sample.memory.filter(one => one.role === role))
      const heap = least(memory.map(one => one.heap))
      const resident = most(memory.map(one => one.resident))
      return [
        { what: `${role}: heap, least`, unit: 'bytes', value: heap, tolerance: HEAP },
        { what: `${role}: resident, most`, unit: 'bytes', value: resident, tolerance: RESIDENT },
      ]
    }),
    {
      what: 'PostgreSQL connections, most',
      unit: 'count',
      value: most(samples.map(sample => sample.connections)),
      tolerance: CONNECTIONS,
    },
    {
      what: 'pg-boss jobs, most',
      unit: 'count',
      value: most(samples.map(sample => sample.jobs)),
      tolerance: JOBS,
    },
    ...(await tableFigures(db, tables)),
  ]
}

/** The times in milliseconds, the shortest first. Waits for the operations that are not final yet. */
async function submitToFinal(db: Database, accepted: Accepted[]): Promise<number[]> {
  const sentAt = new Map(accepted.map(one => [one.id, one.sentAt]))
  const rows = await until(async () => {
    const found = await sql<{ id: string; at: number }>`
      select id, (extract(epoch from processed_at) * 1000)::float8 as at
        from loanops.operation
       where id = any(${[...sentAt.keys()]}::uuid[]) and processed_at is not null`.execute(db)
    return found.rows.length === sentAt.size && found.rows
  }, 'the operations of the minute are final')
  return rows.map(({ id, at }) => at - (sentAt.get(id) ?? 0)).sort((a, b) => a - b)
}
