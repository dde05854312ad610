import { fieldError, standard } from '../http/refusal.ts'
import { isWithin } from '../reference/offices.ts'
import type { Ledger } from '../storage/ledger.ts'
import type { Role, User } from './user.ts'

export type Caller = { user: User; roles: Role[]; permissions: Set<string> }

export function callerOf({ books }: Ledger, user: User): Caller {
  const roles = user.roleIds
    .map(id => books.defined.roles.get(id))
    .filter(role => role !== undefined)
  return { user, roles, permissions: new Set(roles.flatMap(role => role.permissions)) }
}

/** Fineract makes the plural its own way: currencys, business_dates. */
export function refuseReading({ permissions }: Caller, entity: string): void {
  const enough = ['ALL_FUNCTIONS', 'ALL_FUNCTIONS_READ', `READ_${entity}`]
  if (enough.some(permission => permissions.has(permission))) return
  throw notAuthorized(`User has no authority to READ ${entity.toLowerCase()}s`)
}

export function refuseDoing({ permissions }: Caller, permission: string): void {
  if (permissions.has('ALL_FUNCTIONS') || permissions.has(permission)) return
  throw notAuthorized(`User has no authority to: ${permission}`)
}

/** A user sees what belongs to its own office and to those below it. */
export function sees(ledger: Ledger, { user }: Caller, officeId: number): boolean {
  return isWithin(ledger, officeId, user.officeId)
}

export function notAuthorized(message: string) {
  const code = 'error.msg.not.authorized'
  return standard(
    403,
    'The user associated with credentials passed on this request does not have sufficient privileges to perform this action.',
    'Insufficient privileges to perform this action.',
    code,
    [fieldError(code, 'id', message)],
  )
}
