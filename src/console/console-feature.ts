import type { Feature } from '../engine/feature.ts'
import { workBulks } from './bulk/work-bulks.ts'

/** What operators decided about many at once is carried out by a worker, whichever process took the decision. */
export const consoleFeature: Feature = { jobs: [workBulks] }
