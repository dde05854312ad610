import { sql } from 'kysely'
import type { Trx } from '../../database/database.ts'
import { LOCKS } from '../../database/locks.ts'
import { prepared } from '../../database/pool/prepared.ts'
import type { NewReference, ReferenceName } from './reference-record.ts'

/** Locks one value, so that it has one change at a time. Other values can be changed meanwhile. */
export async function lockReference(trx: Trx, { gateway, kind, value }: ReferenceName) {
  await sql`${prepared('lock_reference')}
    select pg_advisory_xact_lock_shared(${sql.lit(LOCKS.references)}),
           pg_advisory_xact_lock(${sql.lit(LOCKS.references)},
             hashtext(${gateway} || core.reference_key(${kind}, ${value})))`.execute(trx)
}

/**
 * Locks all values, for a part of a file: a lock for each of its values would take more of them than PostgreSQL has
 * room for.
 */
export async function lockAllReferences(trx: Trx): Promise<void> {
  await sql`select pg_advisory_xact_lock(${sql.lit(LOCKS.references)})`.execute(trx)
}

type Outcome = {
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
  if (times === 0) return references.map(() => ({ ...NOT_SAVED, refusal: TOO_OFTEN }))
  const outcomes = await saveFirstOfEach(trx, references, actor)
  const later = references.filter((_, n) => outcomes[n]?.is_later)
  const ofLater = later.length === 0 ? [] : await saveReferences(trx, later, actor, times - 1)
  return outcomes.map(outcome => (outcome.is_later ? (ofLater.shift() as Outcome) : outcome))
}

const TOO_OFTEN = `The file repeats this value more than ${MAX_TIMES} times close together: remove the repeats, or split the file`
const NOT_SAVED = { is_new: false, before: null, is_later: false }

async function saveFirstOfEach(trx: Trx, references: NewReference[], actor: string) {
  const list = JSON.stringify(references.map((reference, n) => ({ n, ...reference })))
  const { rows } = await sql<Outcome>`${prepared('save_references')}
    select * from core.save_references(${list}::jsonb, ${actor})`.execute(trx)
  return rows
}
