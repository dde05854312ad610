import { sql } from 'kysely'
import { type Asker, audit } from '../../accounts/audit.ts'
import type { Database, Trx } from '../../database/database.ts'
import { inTransaction } from '../../database/in-transaction.ts'
import { loanSubject } from '../../engine/operation.ts'
import { Conflict } from '../../http/problem.ts'
import { findReference } from './find-references.ts'
import { lockReference } from './lock-references.ts'
import { type NewReference, refuseEmptyPeriod } from './reference-record.ts'
import { storeReferences } from './store-references.ts'

/** Counting more would make the caller wait. */
const MAX_COUNTED = 1_000

type How = { replace?: boolean; dryRun?: boolean }
type Ended = { external_loan_id: string; valid_from: string | null; valid_until: string | null }

/** @throws Conflict if the value belongs to another loan in that time, unless `replace` ends that */
export function putReference(
  db: Database,
  reference: NewReference,
  asker: Asker,
  { replace = false, dryRun = false }: How = {},
) {
  refuseEmptyPeriod(reference)
  return inTransaction(db, async trx => {
    await lockReference(trx, reference)
    // A preview stores the reference, counts, and takes it back: the two cannot count differently.
    if (dryRun) await sql`savepoint preview`.execute(trx)
    const ended = replace ? await endOthers(trx, reference) : []
    const isNew = await store(trx, reference, asker)
    const stored = {
      ...(await findReference(trx, reference)),
      waiting: await released(trx, reference),
    }
    if (dryRun) await sql`rollback to savepoint preview`.execute(trx)
    else await note(trx, reference, ended, asker)
    return { isNew, stored }
  })
}

/** The day before this one begins. */
async function endOthers(trx: Trx, reference: NewReference): Promise<Ended[]> {
  const {
    gateway,
    kind,
    value,
    external_loan_id: loan,
    valid_from: from,
    valid_until: until,
  } = reference
  const { rows } = await sql<Ended>`
    with other as materialized (
      select id, external_loan_id, valid_from, valid_until,
             coalesce(valid_from, '-infinity') < ${from ?? null}::date is true as began_before
        from core.reference
       where key = core.reference_key(${kind}, ${value}) and gateway = ${gateway} and external_loan_id <> ${loan}
         and daterange(valid_from, valid_until, '[]') && daterange(${from ?? null}, ${until ?? null}, '[]')
    ), ended as (
      update core.reference r set valid_until = ${from ?? null}::date - 1 from other o where r.id = o.id and o.began_before
    ), gone as (
      delete from core.reference r using other o where r.id = o.id and not o.began_before
    )
    select external_loan_id, valid_from::text, valid_until::text from other`.execute(trx)
  return rows
}

async function store(trx: Trx, reference: NewReference, { actor }: Asker): Promise<boolean> {
  const [stored] = await storeReferences(trx, [reference], actor)
  if (stored?.other != null) throw new Conflict(belongsTo(stored.other))
  return stored?.is_new === true
}

export const belongsTo = (loan: string) => `The value belongs to the loan ${loan} in that time`

async function released(trx: Trx, { gateway, kind, value, external_loan_id: loan }: NewReference) {
  const { rows } = await sql<{ count: number }>`
    select core.released_by(${gateway}, core.reference_key(${kind}, ${value}), ${loan}, ${MAX_COUNTED})::integer as count`.execute(
    trx,
  )
  return rows[0]?.count ?? 0
}

/** Under each loan, so that its timeline shows it. */
async function note(trx: Trx, reference: NewReference, replaced: Ended[], asker: Asker) {
  const { external_loan_id: loan, ...detail } = reference
  const also = replaced.length > 0 && { replaced }
  await audit(trx, {
    ...asker,
    action: 'reference.put',
    subject: loanSubject(loan),
    detail: { ...detail, ...also },
  })
  for (const { external_loan_id: other, ...period } of replaced)
    await audit(trx, {
      ...asker,
      action: 'reference.replace',
      subject: loanSubject(other),
      detail: { ...detail, ...period, replaced_by: loan },
    })
}
