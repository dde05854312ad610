import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import type { Database } from '../../../src/database/database.ts'
import type { DB } from '../../../src/database/database.types.ts'
import { undone } from './kept-plans.ts'

type Touched = {
  statement: string
  buffers: number
  milliseconds: number
  /** The rows of the plan's largest step. */
  rows: number
}

type Step = {
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: Step[]
}
type Plan = {
  Plan: Step & { 'Shared Hit Blocks': number; 'Shared Read Blocks': number }
  'Execution Time': number
}

/** How many pages each statement of `run` touches, by explain (analyze, buffers). Everything is rolled back. */
export async function buffersOf(
  url: string,
  run: (db: Database) => Promise<unknown>,
): Promise<Touched[]> {
  const statements: { sql: string; parameters: readonly unknown[] }[] = []
  const db = new Kysely<DB>({
    dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max: 1 }) }),
    log: ({ query }) => void statements.push(query),
  })
  await undone(db, run)
  await db.destroy()

  const client = new pg.Client(url)
  await client.connect()
  const touched: Touched[] = []
  for (const { sql, parameters } of statements) {
    if (!/^(\/\*.*\*\/)?\s*(with|select|insert|update|delete)/i.test(sql)) continue
    await client.query('begin')
    const explained = `explain (analyze, buffers, format json) ${sql}`
    const { rows } = await client.query(explained, parameters as unknown[])
    await client.query('rollback')
    const [plan] = rows[0]['QUERY PLAN'] as [Plan]
    touched.push({
      statement: sql.replace(/\s+/g, ' ').trim().slice(0, 70),
      buffers: plan.Plan['Shared Hit Blocks'] + plan.Plan['Shared Read Blocks'],
      milliseconds: plan['Execution Time'],
      rows: mostRows(plan.Plan),
    })
  }
  await client.end()
  return touched
}

function mostRows(step: Step): number {
  const rows = step['Actual Rows'] + (step['Rows Removed by Filter'] ?? 0)
  return Math.max(rows * step['Actual Loops'], ...(step.Plans ?? []).map(mostRows))
}
