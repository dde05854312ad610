import type { Day } from '../day.ts'
import type { Answer } from './answers/answer.ts'
import { atExternalId } from './calls/by-external-id.ts'
import type { Reader, Reading, Writer } from './calls/client.ts'
import { escapeLike } from './calls/escape-like.ts'
import { bodyIfReadable } from './calls/if-readable.ts'
import { lookUp } from './calls/look-up.ts'
import { ofAsked } from './calls/of-asked.ts'
import { ledgerPath } from './calls/path.ts'
import { dayThere, differencesIn } from './effect.ts'

/** A client with a full name has neither first nor last name. */
export type LedgerClient = {
  id: number
  officeId: number
  externalId: string
  firstname?: string
  lastname?: string
  fullname?: string
  displayName?: string
  mobileNo?: string
  emailAddress?: string
  activationDate?: Day
  active?: boolean
}
export type ClientFields = {
  firstname?: string
  lastname?: string
  mobileNo?: string
  emailAddress?: string
  activationDate?: string
}

function read(ledger: Reader, externalId: string): Promise<Reading<LedgerClient>> {
  const wanted = { kind: 'clients', externalId } as const
  return ofAsked(
    externalId,
    atExternalId<Reading<LedgerClient>>(ledger, wanted, path => ledger.read(path)),
  )
}

/** The ledger says of a client that it does not have only that its "identifier null does not exist". */
export async function readClient(ledger: Reader, externalId: string) {
  const answer = await read(ledger, externalId)
  return answer.outcome === 'refused' ? { ...answer, about: `client ${externalId}` } : answer
}

export function findClient(ledger: Reader, externalId: string) {
  return lookUp(read(ledger, externalId))
}

export function clientNumbered(ledger: Reader, id: number): Promise<LedgerClient | undefined> {
  return bodyIfReadable(ledger.read<LedgerClient>(ledgerPath(['clients', id])))
}

type FoundClient = { entityId: number; entityExternalId?: string; entityMobileNo?: string }

/**
 * The clients with this mobile number, without those of an office that our user does not see.
 * @returns none if the ledger has no such search
 */
export async function clientsWithMobile(ledger: Reader, mobileNo: string): Promise<FoundClient[]> {
  const query = { query: escapeLike(mobileNo), resource: 'clients', exactMatch: 'true' }
  const found = await bodyIfReadable(ledger.read<FoundClient[]>(ledgerPath(['search'], query)))
  // The ledger's search looks at names and ids too.
  return (found ?? []).filter(one => one.entityMobileNo === mobileNo)
}

export function createClient({ ledger, key }: Writer, body: object & { externalId: string }) {
  return ledger.write({
    method: 'POST',
    path: ledgerPath(['clients']),
    body,
    key,
    promisedId: 'clientId',
    named: { resourceExternalId: body.externalId },
  })
}

/** @param changed the members of the body that differ from the client */
export function updateClient(
  { ledger, key }: Writer,
  externalId: string,
  body: object,
  changed: string[],
) {
  const wanted = { kind: 'clients', externalId, isWrite: true } as const
  const named = { resourceExternalId: externalId }
  return atExternalId<Answer>(ledger, wanted, path =>
    ledger.write({ method: 'PUT', path, body, key, promisedId: 'clientId', named, changed }),
  )
}

export function hasClientFields(client: LedgerClient, fields: ClientFields): boolean {
  return clientDifferences(client, fields).length === 0
}

/** One clause per difference. The ledger trims names. */
export function clientDifferences(client: LedgerClient, fields: ClientFields): string[] {
  const texts = ['firstname', 'lastname', 'mobileNo', 'emailAddress'] as const
  const { activationDate } = fields
  return differencesIn(
    ...texts
      .filter(name => fields[name] !== undefined && client[name]?.trim() !== fields[name].trim())
      .map(name => [name, client[name], fields[name]] as const),
    ['activationDate', activationDate && dayThere(client.activationDate), activationDate],
  )
}

/** The ledger's answer to a write on this client, rebuilt from a read. */
export function clientAnswer(client: LedgerClient): object {
  const { id, officeId, externalId } = client
  return { officeId, clientId: id, resourceId: id, resourceExternalId: externalId }
}
