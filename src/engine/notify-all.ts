import type { Metrics } from '../ops/metrics.ts'
import type { Feature } from './feature.ts'
import type { OnFinal } from './finish/finish.ts'

/** Notifies features of final operations, in their order. */
export function notifyAll(features: Feature[], metrics: Metrics): OnFinal {
  return {
    origins: features.flatMap(({ onFinal }) => onFinal?.origins ?? []),
    async record(trx, final) {
      const counts: (() => void)[] = []
      for (const { onFinal } of features) {
        const own = final.filter(({ claim }) => onFinal?.origins.includes(claim.origin))
        if (onFinal && own.length > 0) counts.push(await onFinal.record(trx, own, metrics))
      }
      return () => {
        for (const count of counts) count()
      }
    },
    note(final) {
      for (const { noteFinal } of features) noteFinal?.(final, metrics)
    },
  }
}
