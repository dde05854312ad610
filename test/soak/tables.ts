import { sql } from 'kysely'
import type { Database } from '../../src/database/database.ts'
import { BYTES_PER_ROW, DEAD_ROWS, SIZE, type Tolerance } from './tolerances.ts'
import type { Figure, Unit } from './verdict.ts'

/** A row or more for each operation or payment, for good: of these, only what a row takes has to stay flat. */
const GROWING = [
  'loanops.operation',
  'loanops.operation_attempt',
  'loanops.callback',
  'loanops.callback_attempt',
  'loanops.callback_subject',
  'core.event',
  'core.transaction',
  'core.posting',
  'core.loan_product',
]
const RAW = /^raw\..+_gateway_[ab]$/
const isGrowing = (name: string) => GROWING.includes(name) || RAW.test(name)

type TableSize = { name: string; heap: number; indexes: number; dead: number }
export type Tables = TableSize[]
type Sum = { heap: number; indexes: number; rows: number }

/** Every table of the service, with its share of TOAST, and all of its indexes. */
export async function tableSizes(db: Database): Promise<Tables> {
  const { rows } = await sql<TableSize>`
    select schemaname || '.' || relname as name, pg_table_size(relid)::float8 as heap,
           pg_indexes_size(relid)::float8 as indexes, n_dead_tup::float8 as dead
      from pg_stat_user_tables
     where schemaname in ('loanops', 'core', 'raw', 'pgboss')
     order by 1`.execute(db)
  return rows
}

/**
 * The most dead rows of each table in several samples, and its largest size; what a row takes if it grows with the
 * traffic.
 */
export async function tableFigures(db: Database, samples: Tables[]): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const [name, all] of Map.groupBy(samples.flat(), table => table.name)) {
    const most = (of: (size: TableSize) => number) => Math.max(...all.map(of))
    const add = (what: string, unit: Unit, value: number, tolerance: Tolerance) =>
      figures.push({ what: `${name}: ${what}`, unit, value, tolerance })
    add(
      'dead rows',
      'count',
      most(({ dead }) => dead),
      DEAD_ROWS,
    )
    if (isGrowing(name)) continue
    add(
      'table',
      'bytes',
      most(({ heap }) => heap),
      SIZE,
    )
    add(
      'indexes',
      'bytes',
      most(({ indexes }) => indexes),
      SIZE,
    )
  }
  return [...figures, ...(await perRow(db))]
}

/** What a row takes in each of the growing tables; the raw tables count as one. */
async function perRow(db: Database): Promise<Figure[]> {
  const sums = new Map<string, Sum>()
  for (const { name } of (await tableSizes(db)).filter(table => isGrowing(table.name))) {
    const of = RAW.test(name) ? 'raw.*' : name
    sums.set(of, added(sums.get(of), await sizeAndRows(db, name)))
  }
  return [...sums].flatMap(([name, { heap, indexes, rows }]) => {
    const each = (what: string, bytes: number): Figure => ({
      what: `${name}: ${what} per row`,
      unit: 'bytes per row',
      value: bytes / rows,
      tolerance: BYTES_PER_ROW,
    })
    return rows === 0 ? [] : [each('table', heap), each('indexes', indexes)]
  })
}

/** One statement asks for both: a moment later there are more rows. */
async function sizeAndRows(db: Database, name: string): Promise<Sum> {
  const { rows } = await sql<Sum>`
    select count(*)::float8 as rows, pg_table_size(${name}::regclass)::float8 as heap,
           pg_indexes_size(${name}::regclass)::float8 as indexes
      from ${sql.table(name)}`.execute(db)
  return rows[0] as Sum
}

const added = (sum: Sum | undefined, one: Sum): Sum => ({
  heap: (sum?.heap ?? 0) + one.heap,
  indexes: (sum?.indexes ?? 0) + one.indexes,
  rows: (sum?.rows ?? 0) + one.rows,
})
