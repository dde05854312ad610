import { sql } from 'kysely'
import type { Database, Row } from '../database.ts'
import { applyFiles, type Waiting } from './apply-files.ts'
import { tableFiles } from './sql-files.ts'
import { SQUASHED_AT, SQUASHED_FILES } from './squashed-files.ts'

/** The files with lower numbers make the tables; a database may have recorded them under the names in SQUASHED_FILES. */
const FIRST_CHANGE = '10'

/**
 * A session keeps what a function in PL/pgSQL has parsed, and fails once the rows in it have a new column. It parses it
 * again after the function was altered, if only to what it is.
 */
const PARSE_AGAIN = `do $$
declare
  f record;
begin
  for f in select p.oid::regprocedure as name, p.procost as cost
             from pg_proc p join pg_language l on l.oid = p.prolang join pg_namespace n on n.oid = p.pronamespace
            where l.lanname = 'plpgsql' and n.nspname in ('loanops', 'raw', 'base', 'core', 'ops')
              -- People may have made some of their own, and procedures, which have no cost.
              and pg_has_role(p.proowner, 'usage') and p.prokind <> 'p' loop
    execute format('alter function %s cost %s', f.name, f.cost);
  end loop;
end
$$`

/** @returns the files that it ran */
export async function migrateTables(db: Database, waiting: Waiting): Promise<string[]> {
  await makeRecords(db)
  await adopt(db, await appliedFiles(db))
  const applied = await appliedFiles(db)
  refuseEdited(applied)
  const missing = tableFiles().filter(file => !applied.has(file.name))
  for (const file of missing)
    await applyFiles(db, [file], waiting, trx => sql.raw(PARSE_AGAIN).execute(trx))
  return missing.map(file => file.name)
}

/** @returns the hash of each applied file, by its name */
export async function appliedFiles(db: Database): Promise<Map<string, string>> {
  const { rows: tables } = await sql<{ name: string | null }>`
    select to_regclass('loanops.migration_applied')::text as name`.execute(db)
  if (!tables[0]?.name) return new Map()
  const { rows } = await sql<Row<'loanops.migration_applied', 'name' | 'sha256'>>`
    select name, sha256 from loanops.migration_applied`.execute(db)
  return new Map(rows.map(({ name, sha256 }) => [name, sha256]))
}

async function makeRecords(db: Database) {
  await sql`create schema if not exists loanops`.execute(db)
  await sql`create table if not exists loanops.migration_applied (
    name text primary key, sha256 text not null,
    applied_at timestamptz not null default now())`.execute(db)
  // Every form that a file of views has had here, and when first: a process may start on views that a newer version
  // brought, but not on those of an older one.
  await sql`create table if not exists loanops.views_applied (
    name text, sha256 text, first_applied_at timestamptz not null default now(),
    primary key (name, sha256))`.execute(db)
}

/**
 * Records the files that made the same tables as SQUASHED_FILES. The old names stay recorded, because processes of the
 * previous version check them. A single statement, so that a migrate that dies here can be repeated.
 */
async function adopt(db: Database, applied: ReadonlyMap<string, string>) {
  const files = tableFiles().filter(({ name }) => name < FIRST_CHANGE)
  const hasTables = [...applied.keys()].some(name => !name.startsWith('views/'))
  if (!hasTables || files.some(({ name }) => applied.has(name))) return
  if (!SQUASHED_FILES.every(name => applied.has(name)))
    throw new Error(
      `The database is too old for this version: first run "npm run migrate" of the commit ${SQUASHED_AT} on it`,
    )
  await sql`
    insert into loanops.migration_applied (name, sha256)
    select * from unnest(${files.map(({ name }) => name)}::text[],
                         ${files.map(({ sha256 }) => sha256)}::text[])`.execute(db)
}

function refuseEdited(applied: ReadonlyMap<string, string>) {
  const edited = tableFiles().filter(
    ({ name, sha256 }) => applied.has(name) && applied.get(name) !== sha256,
  )
  if (edited.length > 0)
    throw new Error(
      `Edited after they were applied to this database: ${edited.map(({ name }) => `migrations/${name}`).join(', ')}. Restore them, and change the tables in a new file`,
    )
}
