import { day } from '../http/wire.ts'
import { OFFICE_ID, OFFICE_NAME } from '../reference/office.ts'
import { type Client, displayName } from './client.ts'
import { legalForm } from './legal-form.ts'

const PENDING = { id: 100, code: 'clientStatusType.pending', value: 'Pending' }
const ACTIVE = { id: 300, code: 'clientStatusType.active', value: 'Active' }
const ACTIVATED_BY = {
  activatedByUsername: 'mifos',
  activatedByFirstname: 'App',
  activatedByLastname: 'Administrator',
}

export function clientView(client: Client) {
  return {
    id: client.id,
    accountNo: accountNo(client.id),
    externalId: client.externalId,
    status: client.active ? ACTIVE : PENDING,
    active: client.active,
    activationDate: day(client.activatedOn),
    firstname: client.firstname,
    middlename: client.middlename,
    lastname: client.lastname,
    fullname: client.fullname,
    displayName: displayName(client),
    mobileNo: client.mobileNo,
    emailAddress: client.emailAddress,
    dateOfBirth: day(client.dateOfBirth),
    isStaff: false,
    officeId: OFFICE_ID,
    officeName: OFFICE_NAME,
    timeline: {
      submittedOnDate: day(client.submittedOn),
      activatedOnDate: day(client.activatedOn),
      ...(client.active ? ACTIVATED_BY : {}),
    },
    legalForm: legalForm(client.legalFormId),
    clientCollateralManagements: [],
    groups: [],
  }
}

export function accountNo(id: number): string {
  return String(id).padStart(9, '0')
}
