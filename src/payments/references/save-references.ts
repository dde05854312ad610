import { sql } from 'kysely'
import type { Trx } from '../../database/database.ts'
import { LOCKS } from '../../database/locks.ts'
import { prepared } from '../../database/pool/prepared.ts'
import type { NewReference, ReferenceName } from './reference-record.ts'

/** Locks one value: it has one change at a time, while changes of other values go on. */
export async function lockReference(trx: Trx, { gateway, kind, value }: ReferenceName) {
  await sql`${prepared('lock_reference')}
    select pg_advisory_xact_lock_shared(${sql.lit(LOCKS.references)}),
           pg_advisory_xact_lock(${sql.lit(LOCKS.references)}, hashtext(${gateway} || core.reference_key(${kind}, ${value})))`.execute(
    trx,
  )
}

/**
 * Locks all values, for a part of a file: a lock for each of its values would take more of them than PostgreSQL has
 * room for.
 */
export async function lockAllReferences(trx: Trx): Promise<void> {
  await sql`select pg_advisory_xact_lock(${sql.lit(LOCKS.references)})`.execute(trx)
}

type Outcome = {
  /** Why the reference was not saved; null if it was. */
  refusal: string | null
  is_new: boolean
  /** The days on which the loan had the value before; null if it had it on the same days, or not at all. */
  before: Days | null
  /** An earlier reference of this list has the same value: this one can be saved only after it. */
  is_later: boolean
}

export type Days = { valid_from: string | null; valid_until: string | null }

/** A value that a whole column repeats would otherwise need a statement for each of its rows, while others wait for the lock. */
const MAX_TIMES = 20

/**
 * Saves references in their order. Call it with the lock for their values. The next batch looks again at their payments.
 * @returns what became of each
 */
export async function saveReferences(
  trx: Trx,
  references: NewReference[],
  actor: string,
  times = MAX_TIMES,
): Promise<Outcome[]> {
  if (times === 0) return references.map(() => TOO_OFTEN)
  const outcomes = await saveFirstOfEach(trx, references, actor)
  const later = references.filter((_, n) => outcomes[n]?.is_later)
  const ofLater = later.length === 0 ? [] : await saveReferences(trx, later, actor, times - 1)
  return outcomes.map(outcome => (outcome.is_later ? (ofLater.shift() as Outcome) : outcome))
}

const TOO_OFTEN: Outcome = {
  refusal: `The file repeats this value more than ${MAX_TIMES} times close together: remove the repeats, or split the file`,
  is_new: false,
  before: null,
  is_later: false,
}

async function saveFirstOfEach(trx: Trx, references: NewReference[], actor: string) {
  const numbered = references.map((reference, n) => ({ n, ...reference }))
  // Kept while a file fills an empty table, a plan would go on reading the whole of it.
  const plan = references.length === 1 ? prepared('save_reference') : sql``
  const { rows } = await sql<Outcome>`${plan}
    with given as (
      select g.*, key, row_number() over (partition by key, gateway order by n) > 1 as is_later
        from jsonb_to_recordset(${JSON.stringify(numbered)}::jsonb)
             as g (n integer, gateway text, kind text, value text, external_loan_id text, valid_from date, valid_until date)
       cross join lateral core.reference_key(kind, value) key
    ), taken as (
      select g.n, min(r.external_loan_id) as other
        from given g
        join core.reference r on r.key = g.key and r.gateway = g.gateway and r.external_loan_id <> g.external_loan_id
       where not is_later and daterange(r.valid_from, r.valid_until, '[]') && daterange(g.valid_from, g.valid_until, '[]')
       group by g.n
    ), saved as (
      insert into core.reference as r (gateway, kind, value, external_loan_id, valid_from, valid_until, created_by)
      select gateway, kind, value, external_loan_id, valid_from, valid_until, ${actor}
        from given where not is_later and n not in (select n from taken) order by key
      on conflict (key, gateway, external_loan_id) do update
         set valid_from = excluded.valid_from, valid_until = excluded.valid_until
      returning key, gateway
    ), noted as (
      insert into core.changed_reference (gateway, key) select gateway, key from saved
    )
    -- This reads the table as it was before the statement.
    select 'The value belongs to the loan ' || other || ' in that time' as refusal, r.id is null as is_new, is_later,
           case when (r.valid_from, r.valid_until) is distinct from (given.valid_from, given.valid_until) and r.id is not null
                then json_build_object('valid_from', r.valid_from, 'valid_until', r.valid_until) end as before
      from given
      left join taken using (n)
      left join core.reference r using (key, gateway, external_loan_id)
     order by n`.execute(trx)
  return rows
}
