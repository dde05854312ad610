import { sql } from 'kysely'
import { type ActCall, type Facts, factsAbout } from '../../accounts/approvals/act-call.ts'
import { type Asker, audit } from '../../accounts/audit.ts'
import { type Database, inTransaction, type Trx } from '../../database/database.ts'
import { prepared } from '../../database/pool/prepared.ts'
import { loanSubject } from '../../engine/operation.ts'
import { asJson } from '../../http/as-json.ts'
import { Conflict, invalidField, NotFound } from '../../http/problem.ts'
import { ofValue, referenceColumns } from './find-references.ts'
import {
  isEmptyPeriod,
  type NewReference,
  PERIOD_RULE,
  type Period,
  type Reference,
  type ReferenceName,
} from './reference-record.ts'
import { lockReference, saveReferences } from './save-references.ts'

/** Counting more would make the caller wait. */
const MAX_COUNTED = 1_000

type How = { replace?: boolean | undefined; dry_run?: boolean | undefined }
type Saved = Awaited<ReturnType<typeof putReference>>

export const putCall: ActCall<NewReference & How, undefined, Saved> = {
  name: 'reference.put',
  acts: ['reference.write'],
  // A dry run saves nothing.
  actsOf: ({ dry_run }) => (dry_run ? [] : ['reference.write']),
  factsOf: referenceFacts,
  act: (db, asker, { replace, dry_run, ...reference }) =>
    putReference(db, reference, asker, { replace, dry_run }),
  answer: async (_, { isNew, saved }) => ({ status: isNew ? 201 : 200, body: saved }),
}

export const deleteCall: ActCall<ReferenceName, undefined, void> = {
  name: 'reference.delete',
  acts: ['reference.write'],
  factsOf: referenceFacts,
  act: (db, asker, name) => deleteReference(db, name, asker),
  answer: async () => ({ status: 204, body: null }),
}

/** @throws FieldErrors, Conflict if the value belongs to another loan in that time, unless `replace` ends that */
export function putReference(
  db: Database,
  reference: NewReference,
  asker: Asker,
  { replace = false, dry_run: isDryRun = false }: How = {},
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
    const before = outcome?.before
    const saved = await withWaiting(trx, reference)
    if (isDryRun) await sql`rollback to savepoint preview`.execute(trx)
    else {
      const also = { ...(before && { before }), ...(replaced.length > 0 && { replaced }) }
      await auditReference(trx, asker, 'put', { ...reference, ...also })
      for (const period of replaced)
        await auditReference(trx, asker, 'replace', { ...reference, ...period, replaced_by: loan })
    }
    return { isNew: outcome?.is_new === true, saved, before }
  })
}

async function endOthers(trx: Trx, reference: NewReference): Promise<Period[]> {
  const { gateway, kind, value, external_loan_id: loan, valid_from, valid_until } = reference
  const { rows } = await sql<Period>`
    select * from core.end_other_references(${gateway}, core.reference_key(${kind}, ${value}), ${loan},
      ${valid_from ?? null}, ${valid_until ?? null})`.execute(trx)
  return rows
}

async function withWaiting(trx: Trx, reference: NewReference) {
  const { rows } = await sql<object>`${prepared('put_reference')}
    select ${referenceColumns}, core.released_by(gateway, key, external_loan_id, ${MAX_COUNTED})::integer as waiting
      from core.reference
     where ${ofValue(reference)} and external_loan_id = ${reference.external_loan_id}`.execute(trx)
  return asJson<Reference & { waiting: number }>(rows[0] ?? {})
}

export function deleteReference(db: Database, name: ReferenceName, asker: Asker): Promise<void> {
  return inTransaction(db, async trx => {
    const periods = await lockedPeriods(trx, name)
    const { gateway, kind, value } = name
    if (periods.length === 0) throw new NotFound(`No ${kind} ${value} of ${gateway} is registered`)
    await sql`
      with gone as (delete from core.reference where ${ofValue(name)} returning key)
      insert into core.changed_reference (gateway, key)
      select distinct ${gateway}, key from gone`.execute(trx)
    for (const period of periods) await auditReference(trx, asker, 'delete', { ...name, ...period })
  })
}

async function lockedPeriods(trx: Trx, name: ReferenceName): Promise<Period[]> {
  await lockReference(trx, name)
  const { rows } = await sql<Period>`
    select external_loan_id, valid_from::text, valid_until::text from core.reference
     where ${ofValue(name)} order by id`.execute(trx)
  return rows
}

async function referenceFacts(trx: Trx, name: ReferenceName): Promise<Facts> {
  const periods = await lockedPeriods(trx, name)
  const subject = `${name.gateway}/${name.kind}/${name.value}`
  return factsAbout('reference.write', subject, { periods }, periods)
}

/** Audits a change of a reference under its loan, so that the loan's timeline shows it. */
function auditReference(
  trx: Trx,
  asker: Asker,
  action: 'put' | 'replace' | 'delete',
  { external_loan_id: loan, ...detail }: Record<string, unknown> & { external_loan_id: string },
): Promise<void> {
  return audit(trx, { ...asker, action: `reference.${action}`, subject: loanSubject(loan), detail })
}
