import { sql } from 'kysely'
import { type ActCall, type Facts, factsAbout } from '../../accounts/approvals/act-call.ts'
import type { Act } from '../../config/acts.ts'
import type { Trx } from '../../database/database.ts'
import { deleteReference } from './delete-reference.ts'
import { lockReference } from './lock-references.ts'
import { type How, putReference } from './put-reference.ts'
import type { NewReference, ReferenceName } from './reference-record.ts'

type Put = NewReference & How
type Stored = Awaited<ReturnType<typeof putReference>>

export const putCall: ActCall<Put, undefined, Stored> = {
  name: 'reference.put',
  actsOf: actsOfPut,
  factsOf: referenceFacts,
  act: (db, asker, { replace, dry_run, ...reference }) =>
    putReference(db, reference, asker, { replace, dry_run }),
  answer: async (_, { isNew, stored }) => ({ status: isNew ? 201 : 200, body: stored }),
}

export const deleteCall: ActCall<ReferenceName, undefined, void> = {
  name: 'reference.delete',
  actsOf: () => ['reference.write'],
  factsOf: referenceFacts,
  act: (db, asker, name) => deleteReference(db, name, asker),
  answer: async () => ({ status: 204, body: null }),
}

/** A dry run stores nothing. */
export function actsOfPut({ dry_run }: How): Act[] {
  return dry_run ? [] : ['reference.write']
}

async function referenceFacts(trx: Trx, name: ReferenceName): Promise<Facts> {
  const { gateway, kind, value } = name
  await lockReference(trx, name)
  const { rows: periods } = await sql<object>`
    select external_loan_id, valid_from::text as valid_from, valid_until::text as valid_until from core.reference
     where key = core.reference_key(${kind}, ${value}) and gateway = ${gateway} order by id`.execute(
    trx,
  )
  return factsAbout('reference.write', `${gateway}/${kind}/${value}`, { periods }, periods)
}
