import type { Feature } from '../../engine/feature.ts'

export const statementsFeature: Feature = { crashPoints: ['statement.saved'] }
