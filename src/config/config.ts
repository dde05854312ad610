import { readFileSync } from 'node:fs'
import type { Static, TSchema } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { apiSetting, type Gateway, type GatewayRules } from '../payments/gateways/gateway.ts'
import { gateways as allGateways } from '../payments/gateways/gateways.ts'
import { type Act, actsOf } from './acts.ts'
import { type ApprovalRule, approvalRules } from './approval-rules.ts'
import { type GatewayAccount, gatewayAccounts } from './gateway-accounts.ts'
import {
  GatewayOfLender,
  type Lender,
  lendersFrom,
  type SecretReader,
  type SharedSecrets,
} from './lenders.ts'
import { type OutboundProxy, proxyOf } from './proxy.ts'
import { secretReader } from './secret-reader.ts'
import { type InternalToken, internalTokens, weaknessOf } from './secrets.ts'
import { settingJson } from './setting-json.ts'
import { warningsOf } from './setting-warnings.ts'
import {
  type CallbackSettings,
  callbacksOf,
  callbackTroubles,
} from './settings/callback-settings.ts'
import { listOf, textIfSet, trimmedEnv, troubleInSetting } from './settings/setting-formats.ts'
import { Settings, settingsWith } from './settings/settings.ts'
import { shownSettings } from './settings/shown-settings.ts'
import { type SignOnSettings, signOnOf, signOnTroubles } from './settings/sign-on-settings.ts'
import { unknownSettings } from './unknown-settings.ts'
import { howToProve } from './webhook-trust.ts'

export type Config = Omit<
  Static<typeof Settings>,
  'INTERNAL_TOKEN' | 'JWT_SECRET' | 'TRUST_PROXY' | 'PERSON_REQUIRED' | 'APPROVALS'
> & {
  INTERNAL_TOKEN: InternalToken[]
  PERSON_REQUIRED: Act[]
  APPROVALS: ApprovalRule[]
  JWT_SECRET: string[]
  TRUST_PROXY: string[]
  proxy: OutboundProxy
  callbacks: CallbackSettings | undefined
  signOn: SignOnSettings | undefined
  lenders: ReadonlyMap<string, Lender>
  gateways: OpenGateway[]
  gatewayAccounts: GatewayAccount[]
  /** One line for each setting that works, but is not safe or has no effect. */
  warnings: string[]
  /** The settings for the log, without secrets. */
  shown: Record<string, unknown>
}

export type PaymentSettings = Pick<Config, 'gateways' | 'lenders'>

export type OpenGateway = Pick<Gateway, 'title' | 'client' | 'reports'> &
  SharedSecrets &
  GatewayRules

type ClientSettings = { url: string; token: string | undefined }

const CALLED = Type.Object({
  ...Type.Pick(Settings, ['HOST', 'PORT']).properties,
  LOANOPS_URL: textIfSet('the URL of the service, without /api', 'http://127.0.0.1:3000', {
    format: 'http-url',
  }),
})

/** One line per wrong setting: what is wrong with it, and an example. */
export class ConfigError extends Error {}

export function readConfig(
  given: NodeJS.ProcessEnv,
  gateways: readonly Gateway[] = allGateways,
): Config {
  const set = trimmedEnv(given)
  // Curl and others also read the proxy's variables in lower case. An empty setting counts as unset.
  const env: NodeJS.ProcessEnv = {
    ...set,
    HTTPS_PROXY: set.HTTPS_PROXY || set.https_proxy,
    NO_PROXY: set.NO_PROXY || set.no_proxy,
  }
  const schema = settingsWith(gateways)
  const withSecrets = gateways.map(gateway => ({
    ...gateway,
    name: gateway.name as SharedSecrets['name'],
    secrets: listOf((gateway.secretSetting && env[gateway.secretSetting]) ?? ''),
  }))
  const named = new Set<string>()
  // Every part is checked before any error stops the start, so that all wrong settings are reported together.
  const checks = [checkPorts, checkTokens, checkAdmin, checkGroups]
  const [settings, [lenders, accounts]] = allOf([
    () => checkSettings(schema, env),
    () => {
      const lenders = lendersOf(env, withSecrets, secretReader(env, named))
      const accounts = accountsOf(env, schema, withSecrets, lenders)
      const unproven = howToProve({ gateways: withSecrets, lenders }, accounts)
      if (env.WEBHOOK_TRUST === 'required' && unproven) throw new ConfigError(unproven)
      return [lenders, accounts] as const
    },
    ...checks.map(check => () => check(env)),
  ])
  const proxy = proxyOf(settings)
  const unknown = unknownSettings(env, schema, named, gateways)
  return {
    ...settings,
    INTERNAL_TOKEN: internalTokens(settings.INTERNAL_TOKEN),
    PERSON_REQUIRED: actsOf(settings.PERSON_REQUIRED),
    APPROVALS: approvalRules(settings.APPROVALS),
    JWT_SECRET: listOf(settings.JWT_SECRET),
    TRUST_PROXY: listOf(settings.TRUST_PROXY ?? ''),
    proxy,
    callbacks: callbacksOf(settings, proxy),
    signOn: signOnOf(settings, proxy),
    lenders,
    gatewayAccounts: accounts,
    gateways: withSecrets.map(gateway => ({ ...gateway, ...gateway.rules(settings) })),
    warnings: [...warningsOf(schema, settings, lenders), ...unknown],
    shown: shownSettings(schema, settings),
  }
}

export function readDatabaseUrl(env: NodeJS.ProcessEnv): string {
  return checkSettings(Type.Pick(Settings, ['DATABASE_URL']), env).DATABASE_URL
}

export function readSandboxPort(env: NodeJS.ProcessEnv): number {
  return checkSettings(Type.Pick(Settings, ['SANDBOX_PORT']), env).SANDBOX_PORT
}

export function readCallbackSecret(env: NodeJS.ProcessEnv): string | undefined {
  return checkSettings(Type.Pick(Settings, ['CALLBACK_SECRET']), env).CALLBACK_SECRET
}

export function readClientSettings(env: NodeJS.ProcessEnv): ClientSettings {
  const { HOST, PORT, LOANOPS_URL } = checkSettings(CALLED, env)
  const may = internalTokens(env.INTERNAL_TOKEN).filter(
    ({ role }) => role === null || role === 'operate',
  )
  const host = HOST.includes(':') ? `[${HOST}]` : HOST
  return { url: LOANOPS_URL ?? `http://${host}:${PORT}`, token: may[0]?.token }
}

function allOf<T extends unknown[]>(parts: { [P in keyof T]: () => T[P] }): T {
  const lines: string[] = []
  const values = parts.map(part => {
    try {
      return part()
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      lines.push(error.message)
      return undefined
    }
  })
  if (lines.length > 0) throw new ConfigError(lines.join('\n'))
  return values as T
}

function checkPorts({ PORT = '', OPS_PORT = '' }: NodeJS.ProcessEnv): void {
  if (OPS_PORT !== '' && Number(OPS_PORT) === Number(PORT || Settings.properties.PORT.default))
    throw new ConfigError('OPS_PORT is invalid: it must differ from PORT. Example: OPS_PORT=9090')
}

function checkTokens({ INTERNAL_TOKEN }: NodeJS.ProcessEnv): void {
  const same = Map.groupBy(internalTokens(INTERNAL_TOKEN), ({ token }) => token)
  if ([...same.values()].some(items => new Set(items.map(({ role }) => role)).size > 1))
    throw new ConfigError(
      'INTERNAL_TOKEN is invalid: it gives one token two roles. Example: INTERNAL_TOKEN=los/submit:a-long-random-text',
    )
}

function checkAdmin({ ADMIN_USERNAME, ADMIN_PASSWORD }: NodeJS.ProcessEnv): void {
  const missing = ADMIN_USERNAME ? 'ADMIN_PASSWORD' : 'ADMIN_USERNAME'
  const isOnlyOneSet = Boolean(ADMIN_USERNAME) !== Boolean(ADMIN_PASSWORD)
  if (isOnlyOneSet) throw new ConfigError(complaint(missing, Settings.properties[missing], false))
}

function checkGroups(env: NodeJS.ProcessEnv): void {
  const troubles = [...callbackTroubles(env), ...signOnTroubles(env)]
  if (troubles.length > 0) throw new ConfigError(troubles.join('\n'))
}

function accountsOf(
  env: NodeJS.ProcessEnv,
  { properties }: { properties: Record<string, TSchema> },
  gateways: (SharedSecrets & Pick<Gateway, 'client'>)[],
  lenders: ReadonlyMap<string, Lender>,
): GatewayAccount[] {
  const { accounts, missing } = gatewayAccounts(env, gateways, lenders)
  const unread = accounts.find(one =>
    gateways.some(({ name, client }) => name === one.gateway && !client),
  )
  if (unread !== undefined)
    throw new ConfigError(
      `${apiSetting(unread.gateway, 'URL')}: this version has no client for the API of this gateway`,
    )
  const lines = missing.map(name => complaint(name, properties[name] as TSchema, false))
  if (lines.length > 0) throw new ConfigError(lines.join('\n'))
  return accounts
}

/** TypeBox would convert `1e5` and `true` to 1, and `1.9` to a whole number. */
const NUMBERS: Record<string, RegExp> = {
  integer: /^\s*\d{1,15}\s*$/,
  number: /^\s*\d{1,15}(\.\d{1,15})?\s*$/,
}

function convertTypes<T extends TSchema>(schema: T, given: Record<string, string | undefined>) {
  return Object.fromEntries(
    Object.entries(given).map(([name, text = '']) => {
      const property: TSchema = schema.properties[name]
      const isMalformed = NUMBERS[property.type]?.test(text) === false
      return [name, isMalformed ? text : Value.Convert(property, text)]
    }),
  )
}

export function checkSettings<T extends TSchema>(
  schema: T,
  untrimmed: NodeJS.ProcessEnv,
): Static<T> {
  const env = trimmedEnv(untrimmed)
  // An empty setting counts as unset, unless empty means off: compose files and shells cannot easily leave one out.
  const isSet = (name: string) => env[name] !== '' || schema.properties[name].minLength === 0
  const given = Object.fromEntries(
    Object.keys(schema.properties)
      .filter(name => env[name] !== undefined && isSet(name))
      .map(name => [name, env[name]]),
  )
  const value = Value.Default(schema, convertTypes(schema, given)) as Record<string, unknown>
  const wrong = new Set([...Value.Errors(schema, value)].map(error => error.path.slice(1)))
  for (const [name, text = ''] of Object.entries(given))
    if (
      (troubleInSetting(text) ?? weaknessOf(schema.properties[name], text)) !== undefined ||
      (text !== '' && text.trim() === '')
    )
      wrong.add(name)
  if (wrong.size === 0) return value as Static<T>
  throw new ConfigError(
    [...wrong]
      .map(name => complaint(name, schema.properties[name], name in given, given[name]))
      .join('\n'),
  )
}

/** The fault of a setting. @param text is not repeated, because it may be a secret */
function complaint(name: string, schema: TSchema, isGiven: boolean, text = ''): string {
  const range = schema.minimum === undefined ? '' : `, ${schema.minimum} to ${schema.maximum}`
  const length = (schema.minLength ?? 0) > 1 ? `, at least ${schema.minLength} characters` : ''
  const weakness = Value.Check(schema, text) ? weaknessOf(schema, text) : undefined
  const problem = isGiven ? (troubleInSetting(text) ?? weakness ?? 'is invalid') : 'is missing'
  return `${name} ${problem}: ${schema.description}${range}${length}. Example: ${name}=${schema.examples[0]}`
}

export function lendersOf(
  env: NodeJS.ProcessEnv,
  gateways: SharedSecrets[],
  secrets: SecretReader,
): Map<string, Lender> {
  const path = env.LENDERS_FILE || undefined
  const standard = standardOf(env)
  try {
    // The decoder leaves out the invisible mark with which editors on Windows begin a file.
    const file: unknown =
      path === undefined ? {} : settingJson(new TextDecoder().decode(readFileSync(path)))
    return lendersFrom(file, gateways, secrets, standard)
  } catch (error) {
    const example = `{"LENDER_02": {"gateway_a": {"accounts": ["acc_29QQoUBi66xm2f"]}}}`
    throw new ConfigError(
      `LENDERS_FILE is invalid: ${(error as Error).message.replace(/\s+/g, ' ')}. Example of its content: ${example}`,
      { cause: error },
    )
  }
}

function standardOf({ LENDERS_DEFAULT: given = '' }: NodeJS.ProcessEnv) {
  try {
    return Value.Decode(GatewayOfLender, given === '' ? {} : settingJson(given))
  } catch (error) {
    const property = Settings.properties.LENDERS_DEFAULT
    throw new ConfigError(complaint('LENDERS_DEFAULT', property, true), { cause: error })
  }
}
