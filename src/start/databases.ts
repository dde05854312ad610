import type { FastifyBaseLogger } from 'fastify'
import { ensureFirstAdmin } from '../accounts/first-admin.ts'
import type { Config } from '../config/config.ts'
import { type Databases, logLosses, openDatabase } from '../database/database.ts'
import { requireUpToDate } from '../database/migrate/migrate.ts'
import { LONG_STATEMENT_MS } from '../database/pool/pool-config.ts'
import { requireWritable } from '../database/require-writable.ts'

/**
 * Statements of a batch, a read-back, a run of a migration, the gauges and the purge run at the same time. The
 * figures of days, fetches from the gateways and dry runs may wait for one of these.
 */
const MAX_CONCURRENT_LONG_STATEMENTS = 5

/** Opens a role's two pools. @throws if the database cannot be written or is not migrated */
export async function openDatabases(
  config: Config,
  name: string,
  log: FastifyBaseLogger,
): Promise<Databases> {
  const onError = logLosses(log)
  const db = openDatabase(config.DATABASE_URL, {
    name,
    onError,
    max: config.DATABASE_POOL_MAX,
    // The engine's statements run for a few operations at a time: planning them costs as much as running them.
    keepsPlans: true,
    avoidsScans: config.ROLE !== 'api',
  })
  try {
    await requireWritable(db)
    await requireUpToDate(db)
    if (config.ROLE !== 'worker') await ensureFirstAdmin(db, config)
  } catch (error) {
    await db.destroy()
    throw error
  }
  const patient = openDatabase(config.DATABASE_URL, {
    name: `${name}-patient`,
    onError,
    max: MAX_CONCURRENT_LONG_STATEMENTS,
    statementMs: LONG_STATEMENT_MS,
  })
  return { db, patient }
}
