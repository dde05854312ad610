import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import type { Database } from '../../../src/database/database.ts'
import type { DB } from '../../../src/database/database.types.ts'
import { keepPlans } from '../../../src/database/pool/prepared.ts'

type Prepared = { name: string; parameters: readonly unknown[] }

/** One session that plans each marked statement when it first runs it, and keeps that plan whatever it costs later. */
export function openKeptPlans(url: string) {
  let ran: Prepared[] = []
  const pool = new pg.Pool({
    connectionString: url,
    max: 1,
    async onConnect(client) {
      keepPlans(client)
      await client.query('set enable_seqscan = off')
      await client.query('set plan_cache_mode = force_generic_plan')
    },
  })
  const db: Database = new Kysely<DB>({
    dialect: new PostgresDialect({ pool }),
    log: ({ query: { sql, parameters } }) => {
      const name = /^\/\* prepared: (\w+) \*\//.exec(sql)?.[1]
      if (name !== undefined) ran.push({ name, parameters })
    },
  })

  return {
    db,
    /** How many pages the marked statements of `run` touch together. Everything is rolled back. */
    async buffersOf(run: (db: Database) => Promise<unknown>): Promise<number> {
      ran = []
      await undone(db, run)
      let buffers = 0
      for (const statement of ran)
        await undone(db, async trx => {
          buffers += await explained(trx, statement)
        })
      return buffers
    },
  }
}

async function explained(db: Database, { name, parameters }: Prepared): Promise<number> {
  const values = parameters.map(one => sql.lit(Array.isArray(one) ? arrayOf(one) : one))
  const { rows } = await sql<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>`
    explain (analyze, buffers, format json) execute ${sql.ref(name)} (${sql.join(values)})`.execute(
    db,
  )
  const { Plan: plan } = (rows[0] as (typeof rows)[0])['QUERY PLAN'][0]
  return (plan['Shared Hit Blocks'] as number) + (plan['Shared Read Blocks'] as number)
}

const arrayOf = (values: unknown[]) => `{${values.map(value => JSON.stringify(value)).join(',')}}`

/** What `run` writes is taken back. */
export async function undone(db: Database, run: (db: Database) => Promise<unknown>): Promise<void> {
  const undo = new Error('roll back')
  await db
    .transaction()
    .execute(async trx => {
      await run(trx)
      throw undo
    })
    .catch(error => {
      if (error !== undo) throw error
    })
}
