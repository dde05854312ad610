import { sql } from 'kysely'
import type { Feature } from '../../engine/feature.ts'
import { type Measured, measure } from '../../ops/measured.ts'
import { copyTimeZone } from './copy-time-zone.ts'

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
