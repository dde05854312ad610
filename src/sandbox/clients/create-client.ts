import { type Caller, refuseDoing } from '../access/caller.ts'
import { type Body, refuseUnknownKeys } from '../fields/body.ts'
import { checks } from '../fields/checks.ts'
import { dateOf } from '../fields/date.ts'
import { idOf, integerOf, plainIntegerOf } from '../fields/number.ts'
import { isSent, textAsSent, textOf, trueOf } from '../fields/text.ts'
import { containerError } from '../http/refusal.ts'
import { officeById } from '../reference/offices.ts'
import { type Ledger, today } from '../storage/ledger.ts'
import { type Client, clientResult } from './client.ts'
import { checkDates } from './client-dates.ts'
import { CREATE_KEYS, checkBirth, checkContact, checkNames } from './client-fields.ts'
import { checkUnique } from './unique.ts'

export function createClient(ledger: Ledger, caller: Caller, body: Body) {
  refuseUnknownKeys(body, CREATE_KEYS)
  checkFields(body, today(ledger))
  const office = officeById(ledger, idOf(body, 'officeId'))
  const client = { id: 0, officeId: office.id, ...read(ledger, body) }
  checkDates(client, office, today(ledger))
  if (client.active) refuseDoing(caller, 'ACTIVATE_CLIENT')
  checkUnique(ledger, client)
  client.id = ledger.books.nextId('client')
  ledger.books.saveClient(client)
  return clientResult(client)
}

function checkFields(body: Body, today: string): void {
  const check = checks('client')
  const officeId = idOf(body, 'officeId')
  check.required('officeId', officeId)
  check.positive('officeId', officeId)
  checkNames(check, body, true)
  checkContact(check, body)
  checkBirth(check, body, today)
  if (trueOf(body, 'active')) check.required('activationDate', dateOf(body, 'activationDate'))
  if (isSent(body, 'submittedOnDate'))
    check.required('submittedOnDate', dateOf(body, 'submittedOnDate'))
  if (isSent(body, 'dateFormat')) check.required('dateFormat', textOf(body, 'dateFormat'))
  const legalFormId = plainIntegerOf(body, 'legalFormId')
  check.required('legalFormId', legalFormId)
  check.within('legalFormId', legalFormId, 1, 2)
  check.throwIfAny()
}

function read(ledger: Ledger, body: Body): Omit<Client, 'id' | 'officeId'> {
  const legalFormId = integerOf(body, 'legalFormId') ?? 1
  // Fineract reads the format even without a date, and fails if it is missing.
  if (textAsSent(body, 'dateFormat') === undefined) throw containerError(500)
  const activatedOn = trueOf(body, 'active') ? dateOf(body, 'activationDate') : undefined
  const submittedOn = dateOf(body, 'submittedOnDate') ?? today(ledger)
  return {
    externalId: textOf(body, 'externalId'),
    firstname: textOf(body, 'firstname')?.trim(),
    middlename: textOf(body, 'middlename')?.trim(),
    lastname: textOf(body, 'lastname')?.trim(),
    fullname: textOf(body, 'fullname')?.trim(),
    mobileNo: textOf(body, 'mobileNo'),
    emailAddress: textOf(body, 'emailAddress'),
    dateOfBirth: dateOf(body, 'dateOfBirth'),
    legalFormId,
    active: activatedOn !== undefined,
    // A submission after the activation silently becomes the activation date.
    submittedOn: activatedOn !== undefined && submittedOn > activatedOn ? activatedOn : submittedOn,
    activatedOn,
  }
}
