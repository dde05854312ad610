import { ConfigError } from '../../config/config.ts'
import type { Feature } from '../../engine/feature.ts'
import { measure } from '../../ops/measured.ts'
import { backfillCounters } from './backfill-counters.ts'
import { backfillGauges } from './backfill-gauges.ts'
import { BACKFILL_CRASH_POINTS } from './crash-points.ts'

export const backfillFeature: Feature = {
  async prepare(_, { gatewayAccounts, gateways }) {
    const unreadable = gatewayAccounts.find(({ gateway }) =>
      gateways.some(({ name, client }) => name === gateway && client === undefined),
    )
    if (unreadable !== undefined)
      throw new ConfigError(
        `${unreadable.gateway.toUpperCase()}_API_URL: this version has no client for the API of this gateway`,
      )
  },
  gauges: [measure([backfillGauges])],
  counters: backfillCounters,
  crashPoints: BACKFILL_CRASH_POINTS,
}
