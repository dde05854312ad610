import { sql } from 'kysely'
import type { Trx } from '../../database/database.ts'

/** The refused rows of a file: their times, and whether the time of one could not be read. */
export type Refused = { times: Set<string>; isUndated: boolean }

/** A refused row leaves its day partial; one without a day may be of any. */
export async function noteDays(
  trx: Trx,
  statementId: string,
  days: Set<string>,
  { times, isUndated }: Refused,
): Promise<void> {
  await useLedgerZone(trx)
  await sql`
    select core.note_file(${statementId}, ${[...days]}::date[],
             array(select distinct core.day_of(at) from unnest(${[...times]}::timestamptz[]) at)
             || ${isUndated ? [...days] : []}::date[])`.execute(trx)
}

/** Times without a zone are those of the ledger. */
export async function useLedgerZone(trx: Trx): Promise<void> {
  await sql`select set_config('TimeZone', time_zone, true) from core.day_zone`.execute(trx)
}
