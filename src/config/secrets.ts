import type { TSchema } from '@sinclair/typebox'
import { CALLER, type TokenRole } from './access-settings.ts'
import { callbackKeys } from './callback-settings.ts'
import { Settings } from './settings.ts'

export type InternalToken = { token: string; caller: string | null; role: TokenRole | null }

const NAMED = new RegExp(`^${CALLER}`)
const whole = (setting: string) => [setting]

/** The settings that hold secrets, and how each is read. */
const SECRETS: Record<string, (setting: string) => string[]> = {
  DATABASE_URL: url => (URL.canParse(url) ? [new URL(url).password] : []),
  INTERNAL_TOKEN: list => internalTokens(list).map(({ token }) => token),
  JWT_SECRET: listOf,
  ADMIN_PASSWORD: whole,
  LEDGER_PASSWORD: whole,
  GATEWAY_A_WEBHOOK_SECRET: listOf,
  GATEWAY_A_API_SECRET: whole,
  GATEWAY_B_API_SECRET: whole,
  OIDC_CLIENT_SECRET: whole,
  CALLBACK_SECRET: list => callbackKeys(list).map(key => key.toString('latin1')),
}
export const SECRET_SETTINGS = Object.keys(SECRETS) as (keyof typeof Settings.properties)[]

export function secretsIn(name: string, setting: string): string[] {
  return (SECRETS[name]?.(setting) ?? []).filter(secret => secret !== '')
}

/** @returns what is wrong with the secrets of a setting that a stranger would try first */
export function weaknessOf(name: string, setting: string): string | undefined {
  const secrets = secretsIn(name, setting)
  const { examples } = (Settings.properties as Record<string, TSchema>)[name] ?? {}
  const printed = secretsIn(name, String(examples))
  if (secrets.some(secret => printed.includes(secret)))
    return 'holds the secret of LoanOps’s own example, which everybody can read'
  return secrets.some(secret => /^(.)\1+$/su.test(secret))
    ? 'holds a secret that is one character repeated'
    : undefined
}

export function internalTokens(setting = ''): InternalToken[] {
  return listOf(setting).map(item => {
    const [prefix = '', caller = null, role = null] = NAMED.exec(item) ?? []
    return { token: item.slice(prefix.length), caller, role: role as TokenRole | null }
  })
}

export function listOf(commaSeparated: string): string[] {
  return commaSeparated
    .split(',')
    .map(item => item.trim())
    .filter(item => item !== '')
}
