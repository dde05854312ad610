import type { Body } from '../fields/body.ts'
import { textOf } from '../fields/text.ts'
import { OFFICE_ID, OFFICE_NAME } from '../reference/office.ts'
import type { Credentials } from './gate.ts'
import { containerError, standard } from './refusal.ts'

export function authenticate(allowed: Credentials, body: Body) {
  const username = textOf(body, 'username')
  const password = textOf(body, 'password')
  if (username === undefined || password === undefined) throw containerError(500)
  if (username !== allowed.username || password !== allowed.password) {
    throw standard(
      401,
      'Invalid authentication details were passed in api request.',
      'Unauthenticated. Please login.',
      'error.msg.not.authenticated',
    )
  }
  return {
    username,
    userId: 1,
    base64EncodedAuthenticationKey: allowed.authorization.slice('Basic '.length),
    authenticated: true,
    officeId: OFFICE_ID,
    officeName: OFFICE_NAME,
    roles: [{ id: 1, name: 'Super user', disabled: false }],
    permissions: ['ALL_FUNCTIONS'],
    shouldRenewPassword: false,
    isTwoFactorAuthenticationRequired: false,
  }
}
