import { sql } from 'kysely'
import { fieldsOf } from '../../csv/fields.ts'
import type { Database } from '../../database/database.ts'
import type { NewOperation } from '../../engine/accept.ts'
import type { ReadyKind } from '../kinds/kinds.ts'
import type { ComingLoan, RowToLookAt } from '../kinds/looker.ts'
import { BYTES_AT_ONCE, withinBytes } from '../within-bytes.ts'

const ROWS_AT_ONCE = 1_000

type PortfolioFile = { id: string; kind: ReadyKind; columns: string[] }

/** The rows of a loan, in the order in which a run takes them. */
export async function rowsOfLoan(db: Database, { id, kind, columns }: PortfolioFile, loan: string) {
  const { buildsOn } = kind
  const comingLoan = buildsOn.length === 0 ? null : await comingLoanOf(db, id, loan, buildsOn)
  const rows: (RowToLookAt & { onDate: string | null })[] = []
  for (let after = 0; ; ) {
    const next = await nextRows(db, id, loan, after)
    for (const { line, onDate, cells } of next) {
      const steps = kind.steps(fieldsOf(columns, JSON.parse(cells) as string[]))
      rows.push({ migrationId: id, line, onDate, comingLoan, steps: copied(steps) })
    }
    if (isEnd(next)) break
    after = next.at(-1)?.line ?? after
  }
  const key = ({ onDate }: { onDate: string | null }) => onDate ?? 'none'
  return rows.sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : a.line - b.line))
}

/** A trimmed text shares the memory of its row's cells, and would keep them all alive. */
const copied = (steps: NewOperation[]): NewOperation[] =>
  JSON.parse(JSON.stringify(steps)) as NewOperation[]

/** Whether these rows are the loan's last; if not, there may be more. */
function isEnd(rows: NextRow[]): boolean {
  const bytes = rows.reduce((sum, { cells }) => sum + Buffer.byteLength(cells), 0)
  return rows.length < ROWS_AT_ONCE && bytes < BYTES_AT_ONCE
}

type NextRow = { line: number; onDate: string | null; cells: string }

async function nextRows(db: Database, id: string, loan: string, after: number): Promise<NextRow[]> {
  const { rows } = await sql<NextRow>`${withinBytes(sql`
    select line, on_date::text as "onDate", cells from loanops.migration_row
     where migration_id = ${id} and loan_external_id = ${loan} and state = 'valid' and line > ${after}
     order by line limit ${ROWS_AT_ONCE}`)}`.execute(db)
  return rows
}

/** The loan as a file that runs now, or that is run before this one, leaves it. */
async function comingLoanOf(db: Database, id: string, loan: string, buildsOn: string[]) {
  const { rows } = await sql<LoanRow>`
    select l.line, l.finding in ('refused', 'differs') as "isRefused", l.disbursed_on::text as "disbursedOn",
           l.cells, f.columns
      from loanops.migration m
      join loanops.migration f
        on f.type = any(${buildsOn}) and (f.status = 'running' and not f.is_dry_run or f.id = any(m.dry_run_after))
     cross join lateral (
             -- States are looked up one at a time, because each has its own index.
             select line, disbursed_on, cells,
                    case when f.status = 'running' and not f.is_dry_run then 'new' else finding end as finding
               from loanops.migration_row
              where migration_id = f.id and loan_external_id = ${loan} and state = 'valid'
             union all
             select line, disbursed_on, cells, 'new' from loanops.migration_row
              where migration_id = f.id and loan_external_id = ${loan} and state = 'running') l
     where m.id = ${id} and l.finding in ('new', 'refused', 'differs')
     order by l.finding = 'new' desc, f.id limit 1`.execute(db)
  const [row] = rows
  if (row === undefined) return null
  const { cells, columns, ...ofRow } = row
  const { lender = null } = fieldsOf(columns, JSON.parse(cells) as string[])
  return { ...ofRow, lender }
}

type LoanRow = Omit<ComingLoan, 'lender'> & { cells: string; columns: string[] }
