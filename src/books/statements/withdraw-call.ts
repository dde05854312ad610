import { sql } from 'kysely'
import { type ActCall, factsAbout } from '../../accounts/approvals/act-call.ts'
import { type Asker, audit } from '../../accounts/audit.ts'
import { type Database, inTransaction } from '../../database/database.ts'
import { rowById } from '../../http/lists/row-by-id.ts'

type Named = { gateway: string; id: string }

export const withdrawCall: ActCall<Named, undefined, void> = {
  name: 'statement.withdraw',
  acts: ['statement.withdraw'],
  async factsOf(trx, { gateway, id }) {
    type File = { file_name: string | null; sha256: string | null; is_withdrawn: boolean }
    const file = sql<File>`
        select file_name, encode(file_sha256, 'hex') as sha256, lender, withdrawn_at is not null as is_withdrawn
          from core.statement_file where id = ${id} and gateway = ${gateway} for update`
    const shown = await rowById(trx, id, `No statement ${id} of ${gateway}`, file)
    return factsAbout('statement.withdraw', id, shown, [shown.sha256, shown.is_withdrawn])
  },
  act: (trx, asker, { gateway, id }) => withdrawStatement(trx, gateway, id, asker),
  answer: async () => ({ status: 204, body: null }),
}

/** Withdraws a file: from now on, neither its rows nor its days count. `sweepWithdrawn` deletes the rows. */
export async function withdrawStatement(db: Database, gateway: string, id: string, asker: Asker) {
  await inTransaction(db, async trx => {
    const withdrawn = sql`select from core.withdraw_file(${gateway}, ${id}, ${asker.actor})`
    await rowById(trx, id, `No statement ${id} of ${gateway}`, withdrawn)
    await audit(trx, { ...asker, action: 'statement.withdraw', subject: id, detail: { gateway } })
  })
}
