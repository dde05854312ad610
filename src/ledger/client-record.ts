import type { Day } from '../day.ts'
import { isSameDay } from './dates.ts'
import { dayThere, difference } from './held.ts'

/** What we use of a client as the ledger shows it. One with a full name has neither first nor last name. */
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

export const clientPath = (externalId: string) => `/clients/external-id/${externalId}`

/** Whether the client holds each of the given fields. */
export function hasClientFields(client: LedgerClient, fields: ClientFields): boolean {
  return clientDifferences(client, fields).length === 0
}

/** Which of the given fields the client does not hold. The ledger trims names. */
export function clientDifferences(client: LedgerClient, fields: ClientFields): string[] {
  const texts = ['firstname', 'lastname', 'mobileNo', 'emailAddress'] as const
  const differences = texts
    .filter(name => fields[name] !== undefined && client[name]?.trim() !== fields[name].trim())
    .map(name => difference(name, client[name], fields[name]))
  const { activationDate } = fields
  if (activationDate === undefined || isSameDay(client.activationDate, activationDate))
    return differences
  return [
    ...differences,
    difference('activationDate', dayThere(client.activationDate), activationDate),
  ]
}

/** The ledger's answer to a write on this client, made from reading it. */
export function clientAnswer(client: LedgerClient): object {
  const { id, officeId, externalId } = client
  return { officeId, clientId: id, resourceId: id, resourceExternalId: externalId }
}
