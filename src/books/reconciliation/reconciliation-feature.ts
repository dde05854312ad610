import type { Feature } from '../../engine/feature.ts'
import { reconcileChangedDays } from './reconcile-days.ts'

export const reconciliationFeature: Feature = {
  jobs: [reconcileChangedDays],
}
