import type { PgBoss } from 'pg-boss'
import type { Database } from '../../database/database.ts'
import type { Log } from '../../log/log.ts'
import type { Run } from '../../queue/run-job.ts'

export type Batch = Run & {
  db: Database
  boss: PgBoss
  traceparent: string | null
  log: Pick<Log, 'error'>
}
