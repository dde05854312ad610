import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import {
  type MajorUnits,
  type MinorUnits,
  majorUnits,
} from '../../payments/gateways/items/major-units.ts'

export async function readMinorUnits(db: Database): Promise<MajorUnits> {
  const { rows } = await sql<{ units: MinorUnits }>`select base.minor_units() as units`.execute(db)
  return majorUnits(rows[0]?.units as MinorUnits)
}
