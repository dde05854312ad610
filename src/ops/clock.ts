import { sql } from 'kysely'
import { Gauge, type Registry } from 'prom-client'
import type { Database } from '../database/database.ts'
import type { Log } from '../log/log.ts'
import type { Job } from '../queue/job.ts'
import type { Ask } from './health.ts'
import { measureEvery } from './measure-every.ts'

/** Deadlines and ages are the database's; times in logs, signatures and sessions are not. */
const MAX_DIFFERENCE_SECONDS = 5

/** The clock's part of readyz; null while the database does not answer. */
export async function clockReport(ask: Ask): Promise<{ clock: string | null }> {
  const seconds = await ask<number | null>(clockDifference, null)
  return { clock: seconds === null ? null : (complaint(seconds) ?? 'ok') }
}

export function clockGauge(registry: Registry, db: Database, log: Pick<Log, 'warn'>): Job {
  const difference = new Gauge({
    name: 'loanops_clock_difference_seconds',
    help: 'How far the clock of this process is ahead of the database’s; below zero if it is behind',
    registers: [registry],
  })
  const refresh = async () => {
    const seconds = await clockDifference(db)
    difference.set(seconds)
    const differs = complaint(seconds)
    if (differs !== undefined) log.warn({ seconds }, `the clock of this process ${differs}`)
  }
  return measureEvery({ refresh, forget: () => difference.remove() }, log)
}

function complaint(seconds: number): string | undefined {
  if (Math.abs(seconds) <= MAX_DIFFERENCE_SECONDS) return undefined
  const far = `${Math.round(Math.abs(seconds))} s`
  return seconds > 0 ? `is ${far} ahead of the database’s` : `is ${far} behind the database’s`
}

/** The database read its clock at some time during the call: its duration is not taken for a difference. */
async function clockDifference(db: Database): Promise<number> {
  const before = Date.now()
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db)
  const after = Date.now()
  const there = rows[0]?.now.getTime() ?? before
  if (there < before) return (before - there) / 1_000
  return there > after ? (after - there) / 1_000 : 0
}
