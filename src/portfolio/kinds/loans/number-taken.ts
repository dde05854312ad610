import { sql } from 'kysely'
import type { NewOperation } from '../../../engine/accept.ts'
import { clientsWithMobile, findClient } from '../../../ledger/client-record.ts'
import type { Looker } from '../looker.ts'

/** Why the ledger will not give this mobile number to a new client. */
export async function numberTaken(
  { db, ledger }: Pick<Looker, 'db' | 'ledger'>,
  { externalId, data }: NewOperation,
): Promise<string[]> {
  const number = data.mobileNo
  if (typeof number !== 'string') return []
  const atLedger = (await clientsWithMobile(ledger, number)).find(
    one => one.entityExternalId !== externalId,
  )
  if (atLedger !== undefined) return [taken(atLedger.entityExternalId ?? atLedger.entityId)]
  for (const { client, isComing } of await ownClients(number)) {
    if (isComing) return [`client_mobile_no: client ${client} is about to have this number`]
    // The number may have changed since, and the ledger's search may not be there.
    if ((await findClient(ledger, client))?.mobileNo === number) return [taken(client)]
  }
  return []

  async function ownClients(mobileNo: string) {
    const { rows } = await sql<{ client: string; isComing: boolean }>`
      select external_id as client, bool_or(status = 'processing') as "isComing"
        from loanops.operation
       where data->>'mobileNo' = ${mobileNo} and external_id <> ${externalId} and status <> 'failed'
       group by external_id order by external_id limit ${MAX_OWN}`.execute(db)
    return rows
  }
}

/** A number belongs to one client, unless it passed from one to another. */
const MAX_OWN = 20

const taken = (client: string | number) =>
  `client_mobile_no: client ${client} has this number at the ledger`
