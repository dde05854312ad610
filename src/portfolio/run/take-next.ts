import { sql } from 'kysely'
import type { Row, Trx } from '../../database/database.ts'
import { BYTES_AT_ONCE } from '../within-bytes.ts'

/** The rows of one transaction, which delays the intake of their loans and clients for some milliseconds. */
const ROWS_AT_ONCE = 100
/** A few seconds of work for the ledger, and few enough operations for a quick cancel. */
const MAX_UNDER_WAY = 1_000
/** Each of them is tried once a minute. */
const MAX_WITH_WAITING = 10_000

export type NextRow = Row<'loanops.migration_row', 'line' | 'cells'>
/**
 * For each run, the first loan that may have rows of lenders that do not wait (null: no loan has), so that the rows before
 * it are not read again each time.
 */
export type PassedOver = Map<string, { of: string; from: string | null }>

/** Takes the next rows of a run, except those of lenders whose loans wait for the ledger's set-up. */
export async function takeNext(
  trx: Trx,
  { id, run }: { id: string; run: number },
  passed: PassedOver,
): Promise<{ rows: NextRow[]; underWay: number }> {
  const underWay = await countUnderWay(trx, id)
  if (underWay < MAX_UNDER_WAY) return { rows: await takeRows(trx, id, sql`true`), underWay }
  const waiting = await waitingLenders(trx, id)
  const moving = waiting.reduce((left, { loans }) => left - loans, underWay)
  if (moving >= MAX_UNDER_WAY || underWay >= MAX_WITH_WAITING) return { rows: [], underWay }
  const cells = waiting.map(({ lender }) => JSON.stringify(lender))
  const of = `${run} ${cells}`
  const before = passed.get(id)
  const from = before?.of === of ? before.from : ''
  if (from === null) return { rows: [], underWay }
  const isOfOthers = sql`loan_external_id >= ${from}
    and not exists (select from unnest(${cells}::text[]) lender where strpos(cells, lender) > 0)`
  const rows = await takeRows(trx, id, isOfOthers)
  // If the transaction fails, its rows are found again.
  passed.set(id, { of, from: rows[0]?.loan ?? null })
  return { rows, underWay }
}

async function countUnderWay(trx: Trx, id: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count
      from (select from loanops.migration_row
             where migration_id = ${id} and state = 'running'
              limit ${MAX_WITH_WAITING}) under_way`.execute(trx)
  return rows[0]?.count ?? 0
}

/** The lenders of loans that wait until a person has corrected the ledger's set-up, such as a lender's product. */
async function waitingLenders(trx: Trx, id: string): Promise<{ lender: string; loans: number }[]> {
  const { rows } = await sql<{ lender: string; loans: number }>`
    select o.data ->> 'lenderConfig' as lender, count(*)::integer as loans
      from loanops.operation o join loanops.migration_step s on s.operation_id = o.id
     where o.status = 'processing' and o.waiting_for = 'ledger_credentials'
       and s.migration_id = ${id} and o.data ->> 'lenderConfig' is not null
     group by 1 order by 1`.execute(trx)
  return rows
}

async function takeRows(trx: Trx, id: string, isWanted: ReturnType<typeof sql>) {
  const { rows } = await sql<NextRow & { loan: string }>`
    with next as (
      select loan_external_id, on_date, line, octet_length(cells) as bytes from loanops.migration_row
       where migration_id = ${id} and state = 'valid' and ${isWanted}
       order by loan_external_id, on_date, line limit ${ROWS_AT_ONCE} for update
    ), counted as (
      select line, sum(bytes) over (order by loan_external_id, on_date, line) - bytes as bytes_before from next
    ), taken as (
      update loanops.migration_row r set state = 'running', reason = null
        from counted
       where r.migration_id = ${id} and r.line = counted.line and counted.bytes_before < ${BYTES_AT_ONCE}
      returning r.line, r.cells, r.loan_external_id, r.on_date
    )
    select line, cells, loan_external_id as loan from taken
     order by loan_external_id, on_date, line`.execute(trx)
  return rows
}
