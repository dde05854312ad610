import type { Body } from '../fields/body.ts'
import type { Checks } from '../fields/checks.ts'
import { dateOf } from '../fields/date.ts'
import { isSent, textOf } from '../fields/text.ts'

const NAME_PARTS = ['firstname', 'middlename', 'lastname']

const BOTH = `locale dateFormat accountNo externalId mobileNo emailAddress firstname middlename
  lastname fullname active activationDate staffId savingsProductId dateOfBirth genderId clientTypeId
  clientClassificationId submittedOnDate clientNonPersonDetails legalFormId isStaff`.split(/\s+/)

export const UPDATE_KEYS = new Set(BOTH)
export const CREATE_KEYS = new Set([
  ...BOTH,
  'officeId',
  'groupId',
  'address',
  'familyMembers',
  'datatables',
  'id',
])

export function checkNames(check: Checks, body: Body, nameIsNeeded: boolean): void {
  const fullname = textOf(body, 'fullname')
  const parts = NAME_PARTS.map(name => textOf(body, name)).filter(part => part !== undefined)
  const partsSent = NAME_PARTS.some(name => isSent(body, name))
  const fullnameSent = isSent(body, 'fullname')
  if (fullname !== undefined && parts.length > 0) refuseBoth(check, body, fullname)
  else if (fullname !== undefined || (fullnameSent && !partsSent)) checkFullname(check, fullname)
  else if (parts.length > 0 || (partsSent && !fullnameSent)) checkParts(check, body)
  else if (partsSent || nameIsNeeded) {
    const message = 'Failed data validation due to: .no.name.details.passed.'
    check.fail('id', '.no.name.details.passed', message, null)
  }
}

export function checkContact(check: Checks, body: Body): void {
  check.atMost('externalId', textOf(body, 'externalId'), 100)
  check.atMost('mobileNo', textOf(body, 'mobileNo'), 50)
}

export function checkBirth(check: Checks, body: Body, today: string): void {
  if (!isSent(body, 'dateOfBirth')) return
  const born = dateOf(body, 'dateOfBirth')
  check.required('dateOfBirth', born)
  if (born === undefined || born <= today) return
  const message = `The parameter \`dateOfBirth\` must be less than the provided date${today}`
  check.fail('dateOfBirth', 'is.greater.than.date', message, born, today)
}

function checkFullname(check: Checks, fullname: string | undefined): void {
  check.required('fullname', fullname)
  check.atMost('fullname', fullname, 160)
}

function checkParts(check: Checks, body: Body): void {
  for (const name of NAME_PARTS) {
    if (name !== 'middlename') check.required(name, textOf(body, name))
    check.atMost(name, textOf(body, name), 50)
  }
}

function refuseBoth(check: Checks, body: Body, fullname: string): void {
  for (const name of NAME_PARTS) {
    const part = textOf(body, name)
    if (part === undefined) continue
    const message = `The parameter \`fullname\` cannot also be provided when \`${name}\` is populated.`
    const suffix = `cannot.also.be.provided.when.${name}.is.populated`
    check.fail('fullname', suffix, message, fullname, name, part)
  }
}
