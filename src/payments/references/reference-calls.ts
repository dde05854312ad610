import { sql } from 'kysely'
import { type ActCall, type Facts, factsAbout } from '../../accounts/approvals/act-call.ts'
import type { Asker } from '../../accounts/audit.ts'
import type { Database, Trx } from '../../database/database.ts'
import { inTransaction } from '../../database/in-transaction.ts'
import { NotFound } from '../../http/problem.ts'
import { ofValue } from './find-references.ts'
import { auditReference, type How, putReference } from './put-reference.ts'
import type { NewReference, Period, ReferenceName } from './reference-record.ts'
import { lockReference } from './save-references.ts'

type Put = NewReference & How
type Saved = Awaited<ReturnType<typeof putReference>>

export const putCall: ActCall<Put, undefined, Saved> = {
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

async function referenceFacts(trx: Trx, name: ReferenceName): Promise<Facts> {
  const periods = await lockedPeriods(trx, name)
  const subject = `${name.gateway}/${name.kind}/${name.value}`
  return factsAbout('reference.write', subject, { periods }, periods)
}

export function deleteReference(db: Database, name: ReferenceName, asker: Asker): Promise<void> {
  return inTransaction(db, async trx => {
    const periods = await lockedPeriods(trx, name)
    const { gateway, kind, value } = name
    if (periods.length === 0) throw new NotFound(`No ${kind} ${value} of ${gateway} is registered`)
    await sql`
      with gone as (delete from core.reference where ${ofValue(name)} returning key)
      insert into core.changed_reference (gateway, key) select distinct ${gateway}, key from gone`.execute(
      trx,
    )
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
