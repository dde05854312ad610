import type { Feature } from '../../engine/feature.ts'
import { reconcileChangedDays } from './reconcile-days.ts'

/** Keeps the figures of every day. */
export const reconciliationFeature: Feature = {
  jobs: [reconcileChangedDays],
}
