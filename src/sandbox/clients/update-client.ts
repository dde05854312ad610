import { type Caller, notAuthorized, sees } from '../access/caller.ts'
import { type Body, refuseUnknownKeys } from '../fields/body.ts'
import { checks } from '../fields/checks.ts'
import { dateOf } from '../fields/date.ts'
import { plainIntegerOf } from '../fields/number.ts'
import { isSent, textOf, textsOf, trueOf } from '../fields/text.ts'
import { fieldError } from '../http/refusal.ts'
import { officeById } from '../reference/offices.ts'
import { type Ledger, today } from '../storage/ledger.ts'
import { type Client, clientResult } from './client.ts'
import { checkDates } from './client-dates.ts'
import { checkBirth, checkContact, checkNames, UPDATE_KEYS } from './client-fields.ts'
import { legalForm } from './legal-form.ts'
import { checkUnique } from './unique.ts'

const TEXTS = [
  'externalId',
  'mobileNo',
  'emailAddress',
  'firstname',
  'middlename',
  'lastname',
  'fullname',
] as const

const DATES = [
  ['activationDate', 'activatedOn'],
  ['submittedOnDate', 'submittedOn'],
  ['dateOfBirth', 'dateOfBirth'],
] as const

/** An update with nothing but these is refused as empty, although they change along with other fields. */
const NOT_COUNTED = new Set(['emailAddress', 'activationDate', 'dateFormat', 'locale', 'isStaff'])

export function updateClient(ledger: Ledger, caller: Caller, client: Client, body: Body) {
  refuseUnknownKeys(body, UPDATE_KEYS)
  checkFields(body, today(ledger))
  if (!sees(ledger, caller, client.officeId))
    throw notAuthorized(`The user doesn't have enough permissions to access the resource.`)
  const { changed, changes } = change(client, body)
  if (changes.activationDate ?? changes.submittedOnDate)
    checkDates(changed, officeById(ledger, client.officeId), today(ledger))
  checkUnique(ledger, changed)
  ledger.books.saveClient(changed)
  return { ...clientResult(changed), changes }
}

function checkFields(body: Body, today: string): void {
  const check = checks('client')
  checkNames(check, body, false)
  checkContact(check, body)
  checkBirth(check, body, today)
  if (trueOf(body, 'active')) check.required('activationDate', dateOf(body, 'activationDate'))
  if (isSent(body, 'legalFormId')) {
    check.required('legalFormId', plainIntegerOf(body, 'legalFormId'))
    check.within('legalFormId', plainIntegerOf(body, 'legalFormId'), 1, 2)
  }
  if (!Object.keys(body).some(key => !NOT_COUNTED.has(key))) {
    const code = 'validation.msg.client.no.parameters.for.update'
    check.add(fieldError(code, 'id', 'No parameters passed for update.'))
  }
  check.throwIfAny()
}

function change(client: Client, body: Body) {
  const changed = { ...client }
  const changes: Record<string, unknown> = {}
  for (const name of TEXTS) {
    if (!isSent(body, name)) continue
    const text = textOf(body, name) ?? ''
    // Clearing an empty field counts as a change too.
    if (text === client[name]) continue
    changes[name] = text
    changed[name] = text || undefined
  }
  for (const [name, kept] of DATES) {
    const date = dateOf(body, name)
    if (date === undefined || date === client[kept]) continue
    Object.assign(changes, textsOf(body, name, 'dateFormat', 'locale'))
    changed[kept] = date
  }
  const form = plainIntegerOf(body, 'legalFormId')
  if (form !== undefined && form !== client.legalFormId) {
    changes.legalFormId = legalForm(form)
    changed.legalFormId = form
  }
  return { changed, changes }
}
