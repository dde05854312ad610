import { sql } from 'kysely'
import t from 'tap'
import type { Database } from '../../../src/database/database.ts'
import {
  type Claim,
  claimHeads,
  markUnavailable,
  recordSendings,
} from '../../../src/engine/claim/claim.ts'
import { type Ended, recordEnds } from '../../../src/engine/finish/finish.ts'
import { newId } from '../../../src/ids.ts'
import { untilSessionsWait } from '../../support/database/sessions.ts'
import { submit } from '../../support/engine/operations.ts'
import { clientData, newName } from '../../support/ledger/loans.ts'
import { startTestService, type TestService } from '../../support/service.ts'

const worker = newId()

t.test('operations are marked as waiting in the order of their ids', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const claims = await claimTwo(service)
  await sql`
    update loanops.operation
     set claimed_by = null, claimed_at = null, claimed_until = null`.execute(service.db)
  const subjects = claims.map(({ subject }) => subject)
  t.ok(
    await waitsForFirstAlone(service.db, claims, () =>
      markUnavailable(service.db, subjects, 'down'),
    ),
  )
})

t.test('claims are started in the order of their ids', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const claims = await claimTwo(service)
  t.ok(
    await waitsForFirstAlone(service.db, claims, () => recordSendings(service.db, worker, claims)),
  )
})

t.test('the ends of attempts are recorded in the order of their ids', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const claims = await claimTwo(service)
  const ended = claims.map(
    (claim): Ended => ({
      claim,
      key: claim.id,
      answer: null,
      decision: { status: 'success', response: {} },
    }),
  )
  const record = () => service.db.transaction().execute(trx => recordEnds(trx, ended))
  t.ok(await waitsForFirstAlone(service.db, claims, record))
})

/** Claims of two operations, the newer one first in the result and in the table. */
async function claimTwo({ call, db }: TestService): Promise<[Claim, Claim]> {
  const clients = [newName('C'), newName('C')]
  for (const client of clients) await submit(call, 'CLIENT_CREATE', clientData(client))
  const claim = async (client: string | undefined) =>
    (await claimHeads(db, worker, [`client:${client}`])).claims[0] as Claim
  return [await claim(clients[1]), await claim(clients[0])]
}

/** Whether work that has to wait for the older operation leaves the newer one free meanwhile. */
async function waitsForFirstAlone(
  db: Database,
  [newer, older]: [Claim, Claim],
  work: () => Promise<unknown>,
): Promise<boolean> {
  let working: Promise<unknown> | undefined
  const isFree = await db.transaction().execute(async trx => {
    await sql`select from loanops.operation where id = ${older.id} for update`.execute(trx)
    working = work()
    await untilSessionsWait(db)
    const { rows } = await sql`
      select from loanops.operation where id = ${newer.id} for update skip locked`.execute(trx)
    return rows.length === 1
  })
  await working
  return isFree
}
