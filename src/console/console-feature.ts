import type { Feature } from '../engine/feature.ts'
import { workBulks } from './bulk/work-bulks.ts'

/** A worker carries out bulk decisions, whichever process took them. */
export const consoleFeature: Feature = { jobs: [workBulks] }
