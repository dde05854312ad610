import createError from '@fastify/error'
import { Value } from '@sinclair/typebox/value'
import type { SignOnSettings } from '../../config/settings/sign-on-settings.ts'
import { ROLES, type Role } from '../account.ts'
import { Username } from '../credentials.ts'

class NoRole extends createError(
  'FORBIDDEN',
  'You have no role in LoanOps: the claim “%s” of your ID token has no value that OIDC_ROLES maps to a role. Whoever runs your single sign-on can give you one.%s',
  403,
) {
  readonly person: Pick<Person, 'issuer' | 'subject'>
  constructor(claim: string, claims: Claims) {
    super(claim, hintOn(claims, claim))
    this.person = { issuer: claims.iss, subject: claims.sub }
  }
}
const NoUsername = createError(
  'FORBIDDEN',
  `The claim “%s” of your ID token is not a username, which is ${Username.description}. OIDC_USERNAME_CLAIM names another claim.%s`,
  403,
)

/** Whom an issuer has identified. */
export type Person = {
  issuer: string
  subject: string
  role: Role
  /** The name for a new account: one that exists keeps its own. @throws NoUsername */
  newName(): string
}

type Claims = { iss: string; sub: string } & Record<string, unknown>

/** @throws NoRole */
export function personOf(claims: Claims, { roleClaim, usernameClaim, roles }: SignOnSettings) {
  const given = [claimOf(claims, roleClaim)].flat().map(value => roles.get(String(value)))
  // The roles are in order, from the highest to the lowest.
  const role = ROLES.find(one => given.includes(one))
  if (role === undefined) throw new NoRole(roleClaim, claims)
  return { issuer: claims.iss, subject: claims.sub, role, newName }

  function newName(): string {
    const username = claimOf(claims, usernameClaim)
    if (!Value.Check(Username, username))
      throw new NoUsername(usernameClaim, hintOn(claims, usernameClaim))
    return username
  }
}

/** At some issuers, anybody may enter somebody else's address: one that the issuer has not verified says nothing. */
const claimOf = (claims: Claims, name: string): unknown =>
  Object.hasOwn(claims, name) && !isUnverified(claims, name) ? claims[name] : undefined

const isUnverified = (claims: Claims, name: string) =>
  name === 'email' && claims.email !== undefined && claims.email_verified !== true

const hintOn = (claims: Claims, name: string) =>
  isUnverified(claims, name)
    ? ' Your address does not count, because the claim “email_verified” is not true.'
    : ''
