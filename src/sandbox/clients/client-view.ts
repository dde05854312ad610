import { day } from '../http/wire.ts'
import { officeName } from '../reference/offices.ts'
import type { Ledger } from '../storage/ledger.ts'
import { type Client, displayName, isActive } from './client.ts'
import { legalForm } from './legal-form.ts'

const PENDING = { id: 100, code: 'clientStatusType.pending', value: 'Pending' }
const ACTIVE = { id: 300, code: 'clientStatusType.active', value: 'Active' }
const IN_TRANSFER = {
  id: 303,
  code: 'clientStatusType.transfer.in.progress',
  value: 'Transfer in progress',
}
const ACTIVATED_BY = {
  activatedByUsername: 'mifos',
  activatedByFirstname: 'App',
  activatedByLastname: 'Administrator',
}

export function clientView(ledger: Ledger, client: Client) {
  const { officeId, transfer } = client
  return {
    id: client.id,
    accountNo: accountNo(client.id),
    externalId: client.externalId,
    status: statusOf(client),
    active: isActive(client),
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
    officeId,
    officeName: officeName(ledger, officeId),
    transferToOfficeId: transfer?.officeId,
    transferToOfficeName: transfer && officeName(ledger, transfer.officeId),
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

export function statusOf(client: Client) {
  if (client.transfer) return IN_TRANSFER
  return client.active ? ACTIVE : PENDING
}

export function accountNo(id: number): string {
  return String(id).padStart(9, '0')
}
