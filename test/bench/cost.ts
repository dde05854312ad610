import { sql } from 'kysely'
import { cpuTimeMs } from './cpu-time.ts'
import type { Running, Stage } from './stage.ts'

/** CPU time of the processes in milliseconds, and PostgreSQL's log in bytes. */
type Cost = { service: number; postgres: number; wal: number }

export async function costSoFar(stage: Stage, ...services: Running[]): Promise<Cost> {
  const { rows } = await sql<{ wal: number }>`
    select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as wal`.execute(stage.db)
  return {
    service: services.reduce((sum, { child }) => sum + cpuTimeMs(child.pid as number), 0),
    postgres: cpuTimeMs(stage.postgresPid),
    wal: rows[0]?.wal ?? Number.NaN,
  }
}

export function costBetween(before: Cost, after: Cost): Cost {
  return {
    service: after.service - before.service,
    postgres: after.postgres - before.postgres,
    wal: after.wal - before.wal,
  }
}

export function costPer({ service, postgres, wal }: Cost, operations: number): string {
  const ms = (time: number) => `${(time / operations).toFixed(2)} ms`
  return `CPU ${ms(service)} service, ${ms(postgres)} PostgreSQL, ${ms(service + postgres)} together; WAL ${Math.round(wal / operations)} bytes`
}
