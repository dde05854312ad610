import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { LOOPBACK } from '../loopback.ts'
import type { OutboundProxy } from '../proxy.ts'
import { settingJson } from '../setting-json.ts'
import { text, textIfSet, yesOrNo } from './setting-formats.ts'

export const signOnSettings = {
  OIDC_ISSUER: textIfSet(
    'the OpenID Connect issuer of single sign-on, over HTTPS, without a user or password; unset: none',
    'https://login.example.com/realms/lender',
    { format: 'public-url' },
  ),
  OIDC_CLIENT_ID: textIfSet('the id of LoanOps at the issuer', 'loanops'),
  OIDC_CLIENT_SECRET: textIfSet(
    'the secret of LoanOps at the issuer',
    'the-client-secret-of-the-issuer',
    { secret: 'whole' },
  ),
  OIDC_SCOPE: text('what single sign-on asks for: openid and more', 'openid profile email groups', {
    default: 'openid profile email',
    pattern: '(^| )openid( |$)',
  }),
  OIDC_ROLE_CLAIM: text('the claim of the ID token that OIDC_ROLES maps to a role', 'groups', {
    default: 'roles',
  }),
  OIDC_USERNAME_CLAIM: text('the claim of the ID token that names a new account', 'email', {
    default: 'preferred_username',
  }),
  OIDC_ROLES: textIfSet(
    'JSON from a value of OIDC_ROLE_CLAIM to a role: admin, operator or viewer',
    '{"loanops-admins": "admin", "loan-desk": "operator"}',
    // Roles may be given to addresses of people.
    { isHidden: true },
  ),
  PASSWORD_LOGIN: yesOrNo(
    'whether passwords open the console; false: only those of accounts made by create-admin',
    true,
    false,
  ),
}

const Role = Type.Union([Type.Literal('admin'), Type.Literal('operator'), Type.Literal('viewer')])
const Roles = Type.Record(Type.String(), Role, { minProperties: 1 })

export type SignOnSettings = {
  issuer: URL
  proxy: OutboundProxy
  clientId: string
  clientSecret: string
  /** The scopes, separated by blanks. */
  scope: string
  roleClaim: string
  usernameClaim: string
  roles: ReadonlyMap<string, Static<typeof Role>>
}

const NEEDED = ['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'OIDC_ROLES'] as const
type Named = (typeof NEEDED)[number] | 'OIDC_ISSUER'

/** @returns one line per setting that does not go with the others */
export function signOnTroubles(env: NodeJS.ProcessEnv): string[] {
  const { OIDC_ISSUER: issuer, OIDC_ROLES: roles, PASSWORD_LOGIN } = env
  const invalid = (name: string, why: string, example: Named = 'OIDC_ISSUER') =>
    `${name} is ${why}. Example: ${example}=${signOnSettings[example].examples[0]}`
  if (!issuer) {
    const why = 'invalid: it may be false only with OIDC_ISSUER'
    const isOff = Value.Convert(signOnSettings.PASSWORD_LOGIN, PASSWORD_LOGIN) === false
    return isOff ? [invalid('PASSWORD_LOGIN', why)] : []
  }
  const troubles = NEEDED.filter(name => !env[name]).map(name =>
    invalid(name, 'missing: OIDC_ISSUER needs it', name),
  )
  const { description } = signOnSettings.OIDC_ROLES
  if (roles && rolesIn(roles) === undefined)
    troubles.push(invalid('OIDC_ROLES', `invalid: ${description}`, 'OIDC_ROLES'))
  if (!isSafe(issuer))
    troubles.push(invalid('OIDC_ISSUER', 'invalid: plain HTTP is allowed only to this machine'))
  return troubles
}

/** The single sign-on of settings without troubles. */
export function signOnOf(
  settings: Partial<Record<keyof typeof signOnSettings, unknown>>,
  proxy: OutboundProxy,
): SignOnSettings | undefined {
  if (settings.OIDC_ISSUER === undefined) return undefined
  return {
    issuer: new URL(String(settings.OIDC_ISSUER)),
    proxy,
    clientId: String(settings.OIDC_CLIENT_ID),
    clientSecret: String(settings.OIDC_CLIENT_SECRET),
    scope: String(settings.OIDC_SCOPE),
    roleClaim: String(settings.OIDC_ROLE_CLAIM),
    usernameClaim: String(settings.OIDC_USERNAME_CLAIM),
    roles: new Map(Object.entries(rolesIn(String(settings.OIDC_ROLES)) ?? {})),
  }
}

function rolesIn(text: string): Static<typeof Roles> | undefined {
  try {
    const roles = settingJson(text)
    return Value.Check(Roles, roles) ? roles : undefined
  } catch {
    return undefined
  }
}

/** A text that is no URL is refused for its format. */
function isSafe(url: string): boolean {
  if (!URL.canParse(url)) return true
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || LOOPBACK.test(hostname)
}
