export type Client = {
  id: number
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
}

export function displayName(client: Client): string {
  return (
    client.fullname ??
    [client.firstname, client.middlename, client.lastname].filter(Boolean).join(' ')
  )
}
