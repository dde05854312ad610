import { sql } from 'kysely'
import t from 'tap'
import { claimHeads } from '../../../src/engine/claim/claim.ts'
import { newId } from '../../../src/ids.ts'
import { lookForExpired } from '../../support/engine/leases.ts'
import { submit } from '../../support/engine/operations.ts'
import { clientData, newName } from '../../support/ledger/loans.ts'
import { startTestService, type TestService } from '../../support/service.ts'

t.test('without a claim, expired ones are next looked for before a new one can expire', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  await submit(service.call, 'CLIENT_CREATE', clientData(newName('C')))
  t.equal(await lookForExpired(service), 5_000)
})

t.test('the next look comes when the first claim expires', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  await claimFor(service, '4 seconds')
  await claimFor(service, '20 seconds')
  const lookAfterMs = await lookForExpired(service)
  t.ok(lookAfterMs > 1_000 && lookAfterMs <= 4_000, `${lookAfterMs} ms`)
})

t.test('a look that met an expired claim in use is followed by another a second later', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const id = await claimFor(service, '-1 seconds')
  const lookAfterMs = await service.db.transaction().execute(async trx => {
    await sql`select from loanops.operation where id = ${id} for update`.execute(trx)
    return lookForExpired(service)
  })
  t.equal(lookAfterMs, 1_000)
})

/** Claims a new operation under a lease that ends after `lease`. */
async function claimFor({ call, db }: TestService, lease: string): Promise<string> {
  const client = newName('C')
  await submit(call, 'CLIENT_CREATE', clientData(client))
  const { claims } = await claimHeads(db, newId(), [`client:${client}`])
  const id = String(claims[0]?.id)
  await sql`
    update loanops.operation set claimed_until = now() + ${lease}::interval
     where id = ${id}`.execute(db)
  return id
}
