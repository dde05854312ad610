import { callerOf } from '../access/caller.ts'
import { roleView } from '../access/roles.ts'
import type { Body } from '../fields/body.ts'
import { textOf } from '../fields/text.ts'
import { officeName } from '../reference/offices.ts'
import type { Ledger } from '../storage/ledger.ts'
import { keyOf } from './gate.ts'
import { containerError, standard } from './refusal.ts'

export function authenticate(ledger: Ledger, body: Body) {
  const username = textOf(body, 'username')
  const password = textOf(body, 'password')
  if (username === undefined || password === undefined) throw containerError(500)
  const users = [...ledger.books.defined.users.values()]
  const user = users.find(one => one.username === username && one.password === password)
  if (!user) {
    throw standard(
      401,
      'Invalid authentication details were passed in api request.',
      'Unauthenticated. Please login.',
      'error.msg.not.authenticated',
    )
  }
  const { roles, permissions } = callerOf(ledger, user)
  return {
    username,
    userId: user.id,
    base64EncodedAuthenticationKey: keyOf(user),
    authenticated: true,
    officeId: user.officeId,
    officeName: officeName(ledger, user.officeId),
    roles: roles.map(roleView),
    permissions: [...permissions],
    shouldRenewPassword: false,
    isTwoFactorAuthenticationRequired: false,
  }
}
