export type Client = {
  id: number
  officeId: number
  externalId?: string | undefined
  firstname?: string | undefined
  middlename?: string | undefined
  lastname?: string | undefined
  fullname?: string | undefined
  mobileNo?: string | undefined
  emailAddress?: string | undefined
  dateOfBirth?: string | undefined
  legalFormId: number
  active: boolean
  submittedOn: string
  activatedOn?: string | undefined
  // When it came to its office, if that is not the one where it was activated.
  joinedOfficeOn?: string | undefined
  // Proposed and not yet accepted.
  transfer?: { officeId: number; date: string } | undefined
}

export const clientResult = ({ officeId, id, externalId }: Client) => ({
  officeId,
  clientId: id,
  resourceId: id,
  resourceExternalId: externalId,
})

/** A loan cannot have been approved, paid out or repaid there before. */
export function joinedOfficeOn({ joinedOfficeOn, activatedOn }: Client): string | undefined {
  return joinedOfficeOn ?? activatedOn
}

export function isActive({ active, transfer }: Client): boolean {
  return active && transfer === undefined
}

export function displayName(client: Client): string {
  return (
    client.fullname ??
    [client.firstname, client.middlename, client.lastname].filter(Boolean).join(' ')
  )
}
