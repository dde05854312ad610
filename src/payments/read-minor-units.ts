import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { type MajorUnits, majorUnits } from './gateways/items/major-units.ts'

export async function readMinorUnits(db: Database): Promise<MajorUnits> {
  const { rows } = await sql<{ units: Parameters<typeof majorUnits>[0] }>`
    select base.minor_units() as units`.execute(db)
  return majorUnits(rows[0]?.units as Parameters<typeof majorUnits>[0])
}
