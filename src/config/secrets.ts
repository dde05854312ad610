import { CALLER, type TokenRole } from './settings/access-settings.ts'
import { callbackKeys } from './settings/callback-settings.ts'
import { listOf, withHost } from './settings/setting-formats.ts'

export type InternalToken = { token: string; caller: string | null; role: TokenRole | null }

const NAMED = new RegExp(`^${CALLER}`)

type Secret = { secret?: string; examples?: unknown }

/** How a setting holds its secrets, by its option `secret`. */
const READERS: Record<string, (setting: string) => string[]> = {
  whole: setting => [setting],
  list: listOf,
  'password of a URL': url => [URL.parse(withHost(url))?.password ?? ''],
  tokens: list => internalTokens(list).map(({ token }) => token),
  'callback keys': list => callbackKeys(list).map(key => key.toString('latin1')),
}

export function secretsInSetting({ secret = '' }: Secret, setting: string): string[] {
  return (READERS[secret]?.(setting) ?? []).filter(one => one !== '')
}

/** @returns what is wrong with the secrets of a setting that a stranger would try first */
export function weaknessOf(schema: Secret, setting: string): string | undefined {
  const secrets = secretsInSetting(schema, setting)
  const printed = secretsInSetting(schema, String(schema.examples))
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
