import type { Feature } from '../../engine/feature.ts'
import { copyTimeZone } from './copy-time-zone.ts'

export const reconciliationFeature: Feature = { prepare: copyTimeZone }
