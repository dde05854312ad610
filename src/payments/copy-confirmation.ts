import { sql } from 'kysely'
import type { PaymentSettings } from '../config/config.ts'
import type { Database } from '../database/database.ts'
import { proofsOf, signersOf } from './proofs.ts'

/**
 * Copies three settings to the database: whose secrets prove events to whom, which events are to be confirmed, and whose
 * refunds are booked automatically.
 */
export async function copyConfirmation(db: Database, config: PaymentSettings): Promise<void> {
  await sql`select core.copy_signing(${JSON.stringify(signersOf(config))}::jsonb)`.execute(db)
  const confirming = proofsOf(config, trust => trust.confirm)
  await sql`select core.copy_confirming(${JSON.stringify(confirming)}::jsonb)`.execute(db)
  const reversing = proofsOf(config, trust => trust.reversals === 'automatic')
  await sql`select core.copy_reversing(${JSON.stringify(reversing)}::jsonb)`.execute(db)
}
