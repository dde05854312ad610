import { sql } from 'kysely'
import type { Trx } from '../../database/database.ts'
import type { NewReference } from './reference-record.ts'

type Stored = {
  /** Null if it was not stored, because the value belongs to this other loan in that time. */
  other: string | null
  is_new: boolean
}

/**
 * Call it with the lock for these values; each may come once. The next batch looks again at their payments.
 * @returns what became of each, in order
 */
export async function storeReferences(
  trx: Trx,
  references: NewReference[],
  actor: string,
): Promise<Stored[]> {
  const { rows } = await sql<Stored>`
    with given as (
      select n, gateway, kind, value, loan, valid_from::date, valid_until::date, core.reference_key(kind, value) as key
        from jsonb_to_recordset(${rowsOf(references)}::jsonb)
             as g (n integer, gateway text, kind text, value text, loan text, valid_from text, valid_until text)
    ), taken as (
      select g.n, min(r.external_loan_id) as other
        from given g
        join core.reference r on r.key = g.key and r.gateway = g.gateway and r.external_loan_id <> g.loan
       where daterange(r.valid_from, r.valid_until, '[]') && daterange(g.valid_from, g.valid_until, '[]')
       group by g.n
    ), stored as (
      insert into core.reference as r (gateway, kind, value, external_loan_id, valid_from, valid_until, created_by)
      select gateway, kind, value, loan, valid_from, valid_until, ${actor}
        from given where n not in (select n from taken) order by key
      on conflict (key, gateway, external_loan_id) do update
         set valid_from = excluded.valid_from, valid_until = excluded.valid_until
      returning key, gateway, (xmax = 0) as is_new
    ), noted as (
      insert into core.changed_reference (gateway, key) select gateway, key from stored
    )
    select t.other, coalesce(s.is_new, false) as is_new
      from given g
      left join taken t using (n)
      left join stored s using (key, gateway)
     order by g.n`.execute(trx)
  return rows
}

const rowsOf = (references: NewReference[]) =>
  JSON.stringify(
    references.map(({ external_loan_id: loan, ...reference }, n) => ({ n, loan, ...reference })),
  )
