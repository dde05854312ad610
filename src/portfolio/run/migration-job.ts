import type { WorkerContext } from '../../engine/feature.ts'
import type { Job } from '../../queue/job.ts'
import { migrationKinds } from '../kinds/kinds.ts'
import { workMigrations } from './work-migrations.ts'

export function runMigrations(context: WorkerContext): Job {
  const { boss, config, catalogue, log } = context
  const kinds = migrationKinds(catalogue)
  return workMigrations(context, boss, { ...context, lenders: config.lenders, kinds }, log)
}
