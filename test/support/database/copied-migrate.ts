import { cpSync } from 'node:fs'
import type * as current from '../../../src/database/migrate/migrate.ts'

/** The code of `migrate` in a copy of this program whose migrations were changed. */
export async function copiedMigrate(
  folder: string,
  change: (migrations: string) => void,
): Promise<typeof current> {
  for (const name of ['src', 'migrations', 'package.json'])
    cpSync(new URL(`../../../${name}`, import.meta.url), `${folder}/${name}`, { recursive: true })
  change(`${folder}/migrations`)
  return import(`${folder}/src/database/migrate/migrate.ts`)
}
