import type { SecretReader } from './lenders.ts'
import { weaknessOf } from './secrets.ts'
import { apiSecret, webhookSecret } from './settings/gateway-settings.ts'
import { isHeaderValue, listOf, troubleInSetting } from './settings/setting-formats.ts'

/** @param named receives the names of the settings that the file names */
export function secretReader(env: NodeJS.ProcessEnv, named: Set<string>): SecretReader {
  const setting = (name: string) => {
    named.add(name)
    return env[name]
  }
  return {
    secretsIn: name => secretsOf(name, setting(name)),
    valueIn: name => headerValueOf(name, setting(name)?.trim()),
  }
}

function headerValueOf(name: string, text = ''): string {
  const trouble =
    troubleInSetting(text) ??
    (text === '' || isHeaderValue(text) ? undefined : NOT_SENT) ??
    weaknessOf(apiSecret(), text)
  if (trouble !== undefined) throw new Error(`${name} ${trouble}`)
  return text
}

const NOT_SENT = 'contains characters that no header may have'

function secretsOf(name: string, text = ''): string[] {
  const trouble = troubleInSetting(text) ?? weaknessOf(webhookSecret(), text)
  if (trouble !== undefined) throw new Error(`${name} ${trouble}`)
  const secrets = listOf(text)
  if (text !== '' && secrets.length === 0)
    throw new Error(`${name} contains no secret, only blanks and commas`)
  return secrets
}
