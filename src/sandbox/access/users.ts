import { type Body, refuseUnknownKeys } from '../fields/body.ts'
import { checks } from '../fields/checks.ts'
import { idOf } from '../fields/number.ts'
import { textOf } from '../fields/text.ts'
import { integrityIssue, notFound } from '../http/refusal.ts'
import { officeById, officeName } from '../reference/offices.ts'
import type { Ledger } from '../storage/ledger.ts'
import { roleById, roleView } from './roles.ts'
import type { User } from './user.ts'

const KEYS = new Set(
  `username firstname lastname password repeatPassword email officeId notSelectedRoles roles
  sendPasswordToEmail staffId passwordNeverExpires isSelfServiceUser clients`.split(/\s+/),
)
const NEEDED = ['username', 'firstname', 'lastname', 'password'] as const

export function createUser(ledger: Ledger, body: Body) {
  const { books } = ledger
  refuseUnknownKeys(body, KEYS)
  const check = checks('user')
  for (const name of NEEDED) check.required(name, textOf(body, name))
  const officeId = idOf(body, 'officeId')
  check.required('officeId', officeId)
  check.throwIfAny()
  officeById(ledger, officeId)
  const roleIds = Array.isArray(body.roles) ? body.roles.map(Number) : []
  for (const id of roleIds) roleById(ledger, id)
  const text = (name: string) => textOf(body, name) ?? ''
  refuseTakenName(ledger, text('username'))
  const user: User = {
    id: books.nextId('user'),
    username: text('username'),
    password: text('password'),
    firstname: text('firstname'),
    lastname: text('lastname'),
    email: textOf(body, 'email'),
    officeId: officeId ?? 0,
    roleIds,
  }
  books.define('users', user)
  return { officeId: user.officeId, resourceId: user.id }
}

export function userById(ledger: Ledger, id: number): User {
  const user = ledger.books.defined.users.get(id)
  if (user) return user
  throw notFound('error.msg.user.id.invalid', `User with identifier ${id} does not exist`, id)
}

export function userView(ledger: Ledger, user: User) {
  const { id, username, officeId, firstname, lastname, email, roleIds } = user
  return {
    id,
    username,
    officeId,
    officeName: officeName(ledger, officeId),
    firstname,
    lastname,
    email,
    passwordNeverExpires: false,
    selectedRoles: roleIds.map(role => roleView(roleById(ledger, role))),
    isSelfServiceUser: false,
  }
}

function refuseTakenName({ books }: Ledger, username: string): void {
  if (![...books.defined.users.values()].some(user => user.username === username)) return
  const message = `User with username \`${username}\` already exists.`
  throw integrityIssue('error.msg.user.duplicate.username', message, 'username', username)
}
