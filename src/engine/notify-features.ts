import type { Metrics } from '../ops/metrics.ts'
import type { Feature } from './feature.ts'
import type { OnFinal } from './finish/finish.ts'

export function notifyFeatures(features: Feature[], metrics: Metrics): OnFinal {
  return {
    origins: features.flatMap(({ onFinal }) => onFinal?.origins ?? []),
    async record(trx, final) {
      for (const { onFinal } of features) await onFinal?.record(trx, final, metrics)
    },
    note(final) {
      for (const feature of features) feature.noteFinal?.(final, metrics)
    },
  }
}
