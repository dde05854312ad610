import type { Metrics } from '../ops/metrics.ts'
import type { Feature } from './feature.ts'
import type { OnFinal } from './finish/finish.ts'

export function notifyFeatures(features: Feature[], metrics: Metrics): OnFinal {
  return {
    origins: features.flatMap(({ onFinal }) => onFinal?.origins ?? []),
    async record(trx, final) {
      const counts: ((() => void) | undefined)[] = []
      for (const { onFinal } of features) counts.push(await onFinal?.record(trx, final, metrics))
      return () => {
        for (const count of counts) count?.()
      }
    },
    note(final) {
      for (const feature of features) feature.noteFinal?.(final, metrics)
    },
  }
}
