import { ConfigError } from '../../config/config.ts'
import { invalidField } from '../../http/problem.ts'

type Chosen = { password: string; username: string; old?: string }

export async function refuseWeak(field: string, chosen: Chosen): Promise<void> {
  const weakness = await weaknessOf(chosen)
  if (weakness !== undefined) throw invalidField(`/${field}`, weakness)
}

export async function refuseWeakTyped(chosen: Chosen, where = 'The password'): Promise<void> {
  const weakness = await weaknessOf(chosen)
  if (weakness !== undefined) throw new ConfigError(`${where} ${weakness}`)
}

async function weaknessOf({ password, username, old }: Chosen): Promise<string | undefined> {
  const text = password.normalize('NFKC').toLowerCase()
  if (text === username.toLowerCase()) return 'must not be the username'
  if (password.normalize('NFKC') === old?.normalize('NFKC')) return 'must not be the old password'
  if (/^(.)\1*$/su.test(text)) return 'must not be one character repeated'
  return (await commonPasswords()).has(text) ? 'must not be a common password' : undefined
}

let known: Promise<Set<string>> | undefined

/**
 * The passwords are loaded when the first password is chosen, because most processes never see one. All of them are
 * in lower case.
 */
function commonPasswords(): Promise<Set<string>> {
  known ??= load()
  return known
}

async function load(): Promise<Set<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common')
  return new Set(dictionary['passwords-common'])
}
