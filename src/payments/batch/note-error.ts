import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { publicReason } from '../../log/public-error.ts'
import type { RunClaim } from '../../queue/run-claim.ts'

/** Enough characters for the errors of a dozen parts. */
const MAX_CHARACTERS = 4_000

/** Notes an error beside those of other parts of the batch. */
export async function noteError(db: Database, { id }: RunClaim, part: string, error: unknown) {
  const message = `${part}: ${publicReason(error)}`
  await sql`
    update core.batch_run set last_error = left(concat_ws('; ', last_error, ${message}::text), ${MAX_CHARACTERS})
     where id = ${id} and strpos(coalesce(last_error, ''), ${message}) = 0`.execute(db)
}
