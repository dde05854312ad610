import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { publicError } from '../public-error.ts'
import type { RunClaim } from '../queue/run-claim.ts'

export async function noteError(
  db: Database,
  { id }: RunClaim,
  part: string,
  error: unknown,
): Promise<void> {
  const message = `${part}: ${publicError(error as Error).message}`
  await sql`update core.batch_run set last_error = ${message} where id = ${id}`.execute(db)
}
