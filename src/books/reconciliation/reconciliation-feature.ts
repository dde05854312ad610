import { sql } from 'kysely'
import type { Config } from '../../config/config.ts'
import type { Database } from '../../database/database.ts'
import type { Feature } from '../../engine/feature.ts'
import { type Measured, measure } from '../../ops/measured.ts'

const reconciliationGauge: Measured = {
  metrics: {
    days: {
      name: 'loanops_unbalanced_days',
      help: 'Days of a lender and gateway that were balanced and no longer are',
    },
  },
  query: sql`select count(*) as days from ops.unbalanced_day`,
}

export const reconciliationFeature: Feature = {
  prepare: copyTimeZone,
  gauges: [measure([reconciliationGauge])],
}

/** Copies the ledger's time zone to the database, which counts days in it; if it changed, all figures are recomputed. */
async function copyTimeZone(db: Database, config: Config): Promise<void> {
  await sql`select core.copy_time_zone(${config.LEDGER_TIMEZONE})`.execute(db)
}
