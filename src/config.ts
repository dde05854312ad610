import { readFileSync } from 'node:fs'
import type { Static, TOptional, TSchema, TString } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { type Lender, lendersFrom, type SharedSecrets } from './lenders.ts'
import type { Gateway, GatewayRules } from './payments/gateways/gateway.ts'
import { gateways as allGateways } from './payments/gateways/gateways.ts'
import { CALLBACK_TYPES, type CallbackType } from './setting-formats.ts'

const text = (description: string, example: string, options = {}) =>
  Type.String({ description, examples: [example], minLength: 1, ...options })
/** A comma-separated list of items with at least `length` characters each, not counting blanks around them. */
function eachOf(length: number): string {
  const one = `\\s*[^,\\s][^,]{${length - 2},}[^,\\s]\\s*`
  return `^${one}(,${one})*$`
}
/** A comma-separated list with at least one item: blanks and commas alone do not count. */
const ONE_AT_LEAST = '[^,\\s]'
const wholeNumber = (description: string, standard: number, minimum: number, maximum: number) =>
  Type.Integer({ description, default: standard, examples: [standard], minimum, maximum })

/** Hashing a longer password only costs time, and a pass phrase of thirty words fits. */
export const PASSWORD_CHARACTERS = { least: 12, most: 256 }
const ONE_DAY_SECONDS = 86_400
const TEN_YEARS_DAYS = 3_650

/** Every setting with its type, default, meaning and an example, in the order of `.env.example`. */
export const Settings = Type.Object({
  ROLE: Type.Union([Type.Literal('api'), Type.Literal('worker'), Type.Literal('all')], {
    description: 'what this process does: api, worker or all',
    default: 'all',
    examples: ['all'],
  }),
  HOST: text('the address to listen on', '0.0.0.0', { default: '127.0.0.1' }),
  PORT: wholeNumber('the port to listen on', 3000, 0, 65_535),
  DATABASE_URL: text('PostgreSQL 15 or newer', 'postgres://loanops:secret@localhost:5432/loanops', {
    format: 'database-url',
  }),
  DATABASE_POOL_MAX: wholeNumber(
    'pooled PostgreSQL connections per process; an api opens up to 10 more, a worker up to 12',
    20,
    4,
    500,
  ),
  INTERNAL_TOKEN: text(
    'what callers send as X-Internal-Token; comma-separated while rotating',
    'a-long-random-text',
    { minLength: 16, pattern: eachOf(16) },
  ),
  JWT_SECRET: text(
    'signs access tokens, at least 32 characters; comma-separated while rotating, the first one signs',
    'another-long-random-text-of-32-characters',
    { minLength: 32, pattern: eachOf(32) },
  ),
  JWT_TTL_SECONDS: wholeNumber('how long an access token is valid', 3_600, 60, ONE_DAY_SECONDS),
  ADMIN_USERNAME: Type.Optional(
    text('the first administrator, created at startup', 'admin', {
      pattern: '^[A-Za-z0-9][A-Za-z0-9._@-]{0,99}$',
    }),
  ),
  ADMIN_PASSWORD: Type.Optional(
    text('the first administrator’s password', 'a long pass phrase', {
      minLength: PASSWORD_CHARACTERS.least,
      maxLength: PASSWORD_CHARACTERS.most,
    }),
  ),
  LEDGER_URL: text(
    'the ledger’s URL, up to and including /api/v1',
    'https://ledger:8443/fineract-provider/api/v1',
    {
      format: 'ledger-url',
    },
  ),
  LEDGER_TENANT: text('the ledger’s tenant', 'default', { default: 'default' }),
  LEDGER_USERNAME: text('the ledger’s user', 'loanops'),
  LEDGER_PASSWORD: text('the ledger user’s password', 'secret'),
  LEDGER_CA_FILE: Type.Optional(
    text(
      'a readable PEM file with the certificate of the authority that signed the ledger’s',
      '/etc/ssl/ledger.pem',
      {
        format: 'readable-file',
      },
    ),
  ),
  LEDGER_TIMEOUT_MS: wholeNumber(
    'how long a ledger call may take; Fineract’s own retries take over 3 s',
    30_000,
    100,
    300_000,
  ),
  LEDGER_CONCURRENCY: wholeNumber(
    'concurrent ledger calls per process, half of them reserved for live operations; Fineract gains nothing beyond twice its cores',
    4,
    2,
    256,
  ),
  LEDGER_TIMEZONE: text('the ledger tenant’s time zone: Area/City, or UTC', 'Asia/Kolkata', {
    default: 'Asia/Kolkata',
    format: 'time-zone',
  }),
  LEDGER_OFFICE_ID: wholeNumber('the office that new clients belong to', 1, 1, 2_147_483_647),
  LEDGER_PAYMENT_TYPE: text('the payment type under which receipt numbers are kept', 'LoanOps', {
    default: 'LoanOps',
  }),
  LENDERS_FILE: Type.Optional(
    text('a JSON file that changes the lenders or adds some', '/etc/loanops/lenders.json'),
  ),
  GATEWAY_A_WEBHOOK_SECRET: Type.Optional(
    text('gateway A’s webhook secret; comma-separated while rotating', 'webhook-secret', {
      pattern: ONE_AT_LEAST,
    }),
  ),
  GATEWAY_A_SIGNATURE_HEADER: text(
    'the header with gateway A’s signature',
    'X-GatewayA-Signature',
    {
      default: 'X-GatewayA-Signature',
      format: 'header-name',
    },
  ),
  GATEWAY_A_EVENT_ID_HEADER: text('the header with gateway A’s event id', 'X-GatewayA-Event-Id', {
    default: 'X-GatewayA-Event-Id',
    format: 'header-name',
  }),
  ...gatewayApiSettings('GATEWAY_A', 'gateway A', 'https://gateway-a.example.com/v1'),
  ...gatewayApiSettings('GATEWAY_B', 'gateway B', 'https://gateway-b.example.com/pg'),
  GATEWAY_B_API_VERSION: text('the version of gateway B’s API', '2026-01-01', {
    default: '2026-01-01',
    pattern: '^20\\d\\d-\\d\\d-\\d\\d$',
  }),
  BACKFILL_CRON: text(
    'when payments are fetched from the gateways, where they have API credentials',
    '10 * * * *',
    { default: '10 * * * *', format: 'cron' },
  ),
  REPAYMENT_CRON: text('when payments are posted to the ledger', '*/30 * * * *', {
    default: '*/30 * * * *',
    format: 'cron',
  }),
  OPERATION_DEADLINE_SECONDS: wholeNumber(
    'how long until an operation that the ledger never accepted fails',
    ONE_DAY_SECONDS,
    1,
    365 * ONE_DAY_SECONDS,
  ),
  OPERATION_RETENTION_DAYS: wholeNumber(
    'how many days the personal data of finished operations is kept; 0 keeps it for ever',
    0,
    0,
    TEN_YEARS_DAYS,
  ),
  CALLBACK_URL: Type.Optional(
    text(
      'where the LOS receives callbacks; unset: none are sent',
      'https://los.example.com/callbacks',
      {
        format: 'callback-url',
      },
    ),
  ),
  CALLBACK_SECRET: Type.Optional(
    text(
      'signs callbacks: whsec_ and 24 to 64 bytes in base64; comma-separated while rotating, all of them sign',
      'whsec_c2l4dGVlbi1ieXRlcy1hbmQtc29tZS1tb3Jl',
      { format: 'callback-secrets' },
    ),
  ),
  CALLBACK_TIMEOUT_MS: wholeNumber(
    'how long the receiver of callbacks may take',
    15_000,
    100,
    60_000,
  ),
  CALLBACK_EVENTS: Type.Optional(
    text(
      'the types of callbacks that are sent, comma-separated; all by default',
      'operation.failed,payment.posted',
      {
        format: 'callback-types',
      },
    ),
  ),
  CALLBACK_ALLOW_HTTP: Type.Boolean({
    description: 'whether to send callbacks over plain HTTP beyond this machine',
    default: false,
    examples: [true],
  }),
  DOCS_ENABLED: Type.Boolean({
    description: 'whether to serve /docs and /openapi.json',
    default: true,
    examples: [true],
  }),
  LOG_LEVEL: Type.Union(
    (['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const).map(level =>
      Type.Literal(level),
    ),
    {
      description: 'trace, debug, info, warn, error, fatal or silent',
      default: 'info',
      examples: ['info'],
    },
  ),
  TRUST_PROXY: Type.Optional(
    text('addresses or networks of our own proxies, comma-separated', '10.0.0.0/8', {
      // A mere "true" would trust whatever address a caller puts into X-Forwarded-For.
      format: 'proxies',
    }),
  ),
})

/** The path that a gateway's API has is the end of the example. */
function gatewayApiSettings<P extends 'GATEWAY_A' | 'GATEWAY_B'>(
  prefix: P,
  title: string,
  example: string,
) {
  const end = example.slice(example.lastIndexOf('/'))
  return {
    [`${prefix}_API_URL`]: Type.Optional(
      text(`the URL of ${title}’s API, up to and including ${end}`, example, {
        pattern: `^https?://[^/?#@]+(/[^?#]*)?${end}$`,
      }),
    ),
    [`${prefix}_API_KEY`]: Type.Optional(text(`the key for ${title}’s API`, 'key-of-the-api')),
    [`${prefix}_API_SECRET`]: Type.Optional(
      text(`the secret for ${title}’s API`, 'secret-of-the-api'),
    ),
  } as Record<`${P}_API_${'URL' | 'KEY' | 'SECRET'}`, TOptional<TString>>
}

export type Config = Omit<
  Static<typeof Settings>,
  'INTERNAL_TOKEN' | 'JWT_SECRET' | 'TRUST_PROXY'
> & {
  INTERNAL_TOKEN: string[]
  JWT_SECRET: string[]
  TRUST_PROXY: string[]
  /** Undefined where no callbacks are sent. */
  callbacks: CallbackSettings | undefined
  lenders: ReadonlyMap<string, Lender>
  gateways: OpenGateway[]
  /** The accounts at the gateways that can be asked; none where there are no credentials. */
  gatewayAccounts: GatewayAccount[]
}

/** Credentials for a gateway's API. */
export type GatewayAccount = {
  gateway: SharedSecrets['name']
  /** The lender whose own they are; null for the gateway's, which serve all lenders without their own. */
  lender: string | null
  url: string
  key: string
  secret: string
}

/** The receiver of callbacks. */
export type CallbackSettings = {
  url: string
  /** The keys of all secrets in rotation. */
  keys: Buffer[]
  types: CallbackType[]
  timeoutMs: number
}

/** A gateway with its settings. */
export type OpenGateway = Pick<Gateway, 'title'> & SharedSecrets & GatewayRules

/** Has one line per wrong setting: what is wrong with it, and an example. */
export class ConfigError extends Error {}

/** Reads all settings. @throws ConfigError */
export function readConfig(
  env: NodeJS.ProcessEnv,
  gateways: readonly Gateway[] = allGateways,
): Config {
  const withSecrets = gateways.map(gateway => ({
    ...gateway,
    name: gateway.name as SharedSecrets['name'],
    secrets: listOf((gateway.secretSetting && env[gateway.secretSetting]) ?? ''),
  }))
  // Every part is checked before any error stops the start, so that all wrong settings are reported together.
  const [settings, , , { lenders, gatewayAccounts }] = allOf([
    () => checked(Settings, env),
    () => checkAdmin(env),
    () => checkCallbacks(env),
    () => {
      const lenders = lendersOf(env, withSecrets)
      return { lenders, gatewayAccounts: gatewayAccountsOf(env, withSecrets, lenders) }
    },
  ])
  return {
    ...settings,
    INTERNAL_TOKEN: listOf(settings.INTERNAL_TOKEN),
    JWT_SECRET: listOf(settings.JWT_SECRET),
    TRUST_PROXY: listOf(settings.TRUST_PROXY ?? ''),
    callbacks: callbacksOf(settings),
    lenders,
    gatewayAccounts,
    gateways: withSecrets.map(gateway => ({ ...gateway, ...gateway.rules(settings) })),
  }
}

/** Reads only the database's URL, for `migrate` and `create-admin`. @throws ConfigError */
export function readDatabaseUrl(env: NodeJS.ProcessEnv): string {
  return checked(Type.Pick(Settings, ['DATABASE_URL']), env).DATABASE_URL
}

/** The results of all parts. @throws ConfigError with the lines of every part that failed */
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

function checkAdmin({ ADMIN_USERNAME, ADMIN_PASSWORD }: NodeJS.ProcessEnv): void {
  if (ADMIN_USERNAME && !ADMIN_PASSWORD)
    throw new ConfigError(complaint('ADMIN_PASSWORD', Settings.properties.ADMIN_PASSWORD, false))
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

function checkCallbacks({ CALLBACK_URL, CALLBACK_SECRET, CALLBACK_ALLOW_HTTP }: NodeJS.ProcessEnv) {
  if (!CALLBACK_URL || !URL.canParse(CALLBACK_URL)) return
  const { protocol, hostname } = new URL(CALLBACK_URL)
  if (!CALLBACK_SECRET)
    throw new ConfigError(complaint('CALLBACK_SECRET', Settings.properties.CALLBACK_SECRET, false))
  if (protocol === 'http:' && !LOOPBACK.test(hostname) && CALLBACK_ALLOW_HTTP !== 'true')
    throw new ConfigError(
      `CALLBACK_URL is invalid: plain HTTP is for this machine only, unless CALLBACK_ALLOW_HTTP=true. Example: CALLBACK_URL=${Settings.properties.CALLBACK_URL.examples[0]}`,
    )
}

function callbacksOf(settings: Static<typeof Settings>): CallbackSettings | undefined {
  const { CALLBACK_URL: url, CALLBACK_SECRET: secrets = '', CALLBACK_EVENTS: types } = settings
  if (url === undefined) return undefined
  return {
    url,
    keys: listOf(secrets).map(secret => Buffer.from(secret.slice('whsec_'.length), 'base64')),
    types: types === undefined ? [...CALLBACK_TYPES] : (listOf(types) as CallbackType[]),
    timeoutMs: settings.CALLBACK_TIMEOUT_MS,
  }
}

/** @throws ConfigError where a gateway's URL, key and secret are not complete */
function gatewayAccountsOf(
  env: NodeJS.ProcessEnv,
  gateways: SharedSecrets[],
  lenders: ReadonlyMap<string, Lender>,
): GatewayAccount[] {
  const complaints: string[] = []
  const accounts = gateways.flatMap(({ name: gateway }) => {
    const nameOf = (part: string) => `${gateway.toUpperCase()}_API_${part}`
    const [url = '', key = '', secret = ''] = ['URL', 'KEY', 'SECRET'].map(p => env[nameOf(p)])
    const own = [...lenders.values()].flatMap(lender => {
      const { api } = lender[gateway]
      return api === undefined ? [] : [{ gateway, lender: lender.code, url, ...api }]
    })
    const isShared = key !== '' || secret !== '' || (url !== '' && own.length === 0)
    const needed = [
      ...(isShared || own.length > 0 ? [['URL', url]] : []),
      ...(isShared ? [['KEY', key] as const, ['SECRET', secret] as const] : []),
    ]
    const missing = needed.filter(([, value]) => value === '').map(([part = '']) => nameOf(part))
    const properties: Record<string, TSchema> = Settings.properties
    complaints.push(...missing.map(name => complaint(name, properties[name] as TSchema, false)))
    return isShared ? [{ gateway, lender: null, url, key, secret }, ...own] : own
  })
  if (complaints.length > 0) throw new ConfigError(complaints.join('\n'))
  return accounts
}

/** Only digits count as a number: TypeBox would convert `1e5`, `true` and `1.9` to 1. */
const WHOLE_NUMBER = /^\s*\d{1,15}\s*$/

function converted<T extends TSchema>(schema: T, given: Record<string, string | undefined>) {
  return Object.fromEntries(
    Object.entries(given).map(([name, text = '']) => {
      const property: TSchema = schema.properties[name]
      const isMalformed = property.type === 'integer' && !WHOLE_NUMBER.test(text)
      return [name, isMalformed ? text : Value.Convert(property, text)]
    }),
  )
}

function checked<T extends TSchema>(schema: T, env: NodeJS.ProcessEnv): Static<T> {
  // An empty setting counts as unset: compose files and shells cannot easily leave one out.
  const given = Object.fromEntries(
    Object.keys(schema.properties)
      .filter(name => env[name] !== undefined && env[name] !== '')
      .map(name => [name, env[name]]),
  )
  const value = Value.Default(schema, converted(schema, given)) as Record<string, unknown>
  const wrong = new Set([...Value.Errors(schema, value)].map(error => error.path.slice(1)))
  if (wrong.size === 0) return value as Static<T>
  throw new ConfigError(
    [...wrong].map(name => complaint(name, schema.properties[name], name in given)).join('\n'),
  )
}

function complaint(name: string, schema: TSchema, isGiven: boolean): string {
  const range = schema.minimum === undefined ? '' : `, ${schema.minimum} to ${schema.maximum}`
  const length = (schema.minLength ?? 0) > 1 ? `, at least ${schema.minLength} characters` : ''
  const problem = isGiven ? 'is invalid' : 'is missing'
  return `${name} ${problem}: ${schema.description}${range}${length}. Example: ${name}=${schema.examples[0]}`
}

function lendersOf(env: NodeJS.ProcessEnv, gateways: SharedSecrets[]) {
  const path = env.LENDERS_FILE || undefined
  try {
    const file: unknown = path === undefined ? {} : JSON.parse(readFileSync(path, 'utf8'))
    return lendersFrom(file, gateways, {
      secretsIn: name => secretsOf(name, env[name]),
      valueIn: name => env[name]?.trim() ?? '',
    })
  } catch (error) {
    const example = `{"LENDER_02": {"gateway_a": {"accounts": ["acc_29QQoUBi66xm2f"]}}}`
    throw new ConfigError(
      `LENDERS_FILE is invalid: ${(error as Error).message.replace(/\s+/g, ' ')}. Example of its content: ${example}`,
    )
  }
}

function secretsOf(name: string, text = ''): string[] {
  const secrets = listOf(text)
  if (text !== '' && secrets.length === 0)
    throw new Error(`${name} contains no secret, only blanks and commas`)
  return secrets
}

/** The items of a comma-separated setting, such as a secret in rotation. */
export function listOf(commaSeparated: string): string[] {
  return commaSeparated
    .split(',')
    .map(item => item.trim())
    .filter(item => item !== '')
}
