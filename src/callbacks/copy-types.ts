import { sql } from 'kysely'
import type { CallbackSettings } from '../config/settings/callback-settings.ts'
import type { Database } from '../database/database.ts'

/** Copies the wanted types to the database, whose triggers save callbacks of these types only. */
export async function copyTypes(
  db: Database,
  settings: CallbackSettings | undefined,
): Promise<void> {
  const types = settings?.types ?? []
  await sql`
    update loanops.callback_receiver set types = ${types}
     where types <> ${types}::text[]`.execute(db)
}
