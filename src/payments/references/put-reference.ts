import { sql } from 'kysely'
import { type Asker, audit } from '../../accounts/audit.ts'
import type { Database, Trx } from '../../database/database.ts'
import { inTransaction } from '../../database/in-transaction.ts'
import { prepared } from '../../database/pool/prepared.ts'
import { loanSubject } from '../../engine/operation.ts'
import { asJson } from '../../http/as-json.ts'
import { Conflict, invalidField } from '../../http/problem.ts'
import { ofValue, referenceColumns } from './find-references.ts'
import {
  isEmptyPeriod,
  type NewReference,
  PERIOD_RULE,
  type Period,
  type Reference,
} from './reference-record.ts'
import { type Days, lockReference, saveReferences } from './save-references.ts'

/** Counting more would make the caller wait. */
const MAX_COUNTED = 1_000

export type How = {
  replace?: boolean | undefined
  dry_run?: boolean | undefined
  /** If the loan has the value already, its days stay as they are. */
  keepsDays?: boolean
}

/** @throws FieldErrors, Conflict if the value belongs to another loan in that time, unless `replace` ends that */
export function putReference(
  db: Database,
  reference: NewReference,
  asker: Asker,
  { replace = false, dry_run: isDryRun = false, keepsDays = false }: How = {},
) {
  if (isEmptyPeriod(reference)) throw invalidField('/valid_until', PERIOD_RULE)
  const { external_loan_id: loan } = reference
  return inTransaction(db, async trx => {
    await lockReference(trx, reference)
    // A preview saves the reference, counts, and takes it back: the two cannot count differently.
    if (isDryRun) await sql`savepoint preview`.execute(trx)
    const replaced = replace ? await endOthers(trx, reference) : []
    const [outcome] = await saveReferences(trx, [reference], asker.actor)
    if (outcome?.refusal != null) throw new Conflict(outcome.refusal)
    if (keepsDays && outcome?.before) throw new Conflict(hasDays(reference, outcome.before))
    const saved = await withWaiting(trx, reference)
    if (isDryRun) await sql`rollback to savepoint preview`.execute(trx)
    else {
      const before = outcome?.before && { before: outcome.before }
      const also = replaced.length > 0 && { replaced }
      await auditReference(trx, asker, 'put', { ...reference, ...before, ...also })
      for (const period of replaced)
        await auditReference(trx, asker, 'replace', { ...reference, ...period, replaced_by: loan })
    }
    return { isNew: outcome?.is_new === true, saved }
  })
}

function hasDays({ kind, external_loan_id }: NewReference, { valid_from, valid_until }: Days) {
  const days = [valid_from && `from ${valid_from}`, valid_until && `until ${valid_until}`]
  return `The loan ${external_loan_id} has this ${kind} only ${days.filter(Boolean).join(' ')}: change these days at the reference, or do not remember it`
}

/** Ends the references of other loans on the day before this one begins. */
async function endOthers(trx: Trx, reference: NewReference): Promise<Period[]> {
  const { external_loan_id: loan, valid_from: from = null, valid_until: until = null } = reference
  const { rows } = await sql<Period>`
    with other as materialized (
      select id, external_loan_id, valid_from, valid_until,
             coalesce(valid_from, '-infinity') < ${from}::date is true as began_before
        from core.reference
       where ${ofValue(reference)} and external_loan_id <> ${loan}
         and daterange(valid_from, valid_until, '[]') && daterange(${from}, ${until}, '[]')
    ), ended as (
      update core.reference r set valid_until = ${from}::date - 1 from other o where r.id = o.id and o.began_before
    ), gone as (
      delete from core.reference r using other o where r.id = o.id and not o.began_before
    )
    select external_loan_id, valid_from::text, valid_until::text from other`.execute(trx)
  return rows
}

async function withWaiting(trx: Trx, reference: NewReference) {
  const { rows } = await sql<object>`${prepared('put_reference')}
    select ${referenceColumns}, core.released_by(gateway, key, external_loan_id, ${MAX_COUNTED})::integer as waiting
      from core.reference
     where ${ofValue(reference)} and external_loan_id = ${reference.external_loan_id}`.execute(trx)
  return asJson<Reference & { waiting: number }>(rows[0] ?? {})
}

/** Audits a change of a reference under its loan, so that the loan's timeline shows it. */
export function auditReference(
  trx: Trx,
  asker: Asker,
  action: 'put' | 'replace' | 'delete',
  { external_loan_id: loan, ...detail }: Record<string, unknown> & { external_loan_id: string },
): Promise<void> {
  return audit(trx, { ...asker, action: `reference.${action}`, subject: loanSubject(loan), detail })
}
