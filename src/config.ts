import { readFileSync } from 'node:fs'
import type { Static, TSchema } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { type Lender, lendersFrom, type SharedSecrets } from './lenders.ts'
import type { Gateway, GatewayRules } from './payments/gateways/gateway.ts'
import { gateways as allGateways } from './payments/gateways/gateways.ts'
import { CALLBACK_TYPES, type CallbackType } from './setting-formats.ts'

const text = (description: string, example: string, options = {}) =>
  Type.String({ description, examples: [example], minLength: 1, ...options })
/** Every one of a comma-separated list has so many characters, blanks around it left out. */
function eachOf(length: number): string {
  const one = `\\s*[^,\\s][^,]{${length - 2},}[^,\\s]\\s*`
  return `^${one}(,${one})*$`
}
/** Of a comma-separated list: blanks and commas alone are set, and name nothing. */
const ONE_AT_LEAST = '[^,\\s]'
const wholeNumber = (description: string, standard: number, minimum: number, maximum: number) =>
  Type.Integer({ description, default: standard, examples: [standard], minimum, maximum })

/** Longer ones only cost time; a pass phrase of thirty words fits. */
export const PASSWORD_CHARACTERS = { least: 12, most: 256 }
const ONE_DAY_SECONDS = 86_400
const TEN_YEARS_DAYS = 3_650

/** Every setting: its type, default, meaning and an example, in the order in which `.env.example` lists them. */
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
    'connections to PostgreSQL of one process, beside up to 10 more of an api and 12 of a worker',
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
    text('the first administrator, made at the start', 'admin', {
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
    'the ledger, up to and with /api/v1',
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
      'a readable PEM file of the authority that signed the ledger’s certificate',
      '/etc/ssl/ledger.pem',
      {
        format: 'readable-file',
      },
    ),
  ),
  LEDGER_TIMEOUT_MS: wholeNumber(
    'how long a ledger call may take; its own retries take over 3 s',
    30_000,
    100,
    300_000,
  ),
  LEDGER_CONCURRENCY: wholeNumber(
    'ledger calls at once of one process, half of them for live operations alone; Fineract gains nothing beyond twice its cores',
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
    text('JSON that changes the lenders or adds some', '/etc/loanops/lenders.json'),
  ),
  GATEWAY_A_WEBHOOK_SECRET: Type.Optional(
    text('gateway A’s webhook secret; comma-separated while rotating', 'webhook-secret', {
      pattern: ONE_AT_LEAST,
    }),
  ),
  GATEWAY_A_SIGNATURE_HEADER: text('the header of gateway A’s signature', 'X-GatewayA-Signature', {
    default: 'X-GatewayA-Signature',
    format: 'header-name',
  }),
  GATEWAY_A_EVENT_ID_HEADER: text('the header of gateway A’s event id', 'X-GatewayA-Event-Id', {
    default: 'X-GatewayA-Event-Id',
    format: 'header-name',
  }),
  REPAYMENT_CRON: text('when payments are taken to the ledger', '*/30 * * * *', {
    default: '*/30 * * * *',
    format: 'cron',
  }),
  OPERATION_DEADLINE_SECONDS: wholeNumber(
    'after this an operation that the ledger never took has failed',
    ONE_DAY_SECONDS,
    1,
    365 * ONE_DAY_SECONDS,
  ),
  OPERATION_RETENTION_DAYS: wholeNumber(
    'personal data of finished operations is purged after so many days; 0 keeps it',
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
    description: 'sends callbacks over plain HTTP beyond this machine',
    default: false,
    examples: [true],
  }),
  DOCS_ENABLED: Type.Boolean({
    description: 'serves /docs and /openapi.json',
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
      // Just "true" would believe whatever address a caller writes into X-Forwarded-For.
      format: 'proxies',
    }),
  ),
})

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

/** Says, one line per setting, what is wrong and how it would be right. */
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
  // Each part may end the start; all of them are heard first, so that every wrong setting is told at once.
  const [settings, , , lenders] = allOf([
    () => checked(Settings, env),
    () => checkAdmin(env),
    () => checkCallbacks(env),
    () => lendersOf(env, withSecrets),
  ])
  return {
    ...settings,
    INTERNAL_TOKEN: listOf(settings.INTERNAL_TOKEN),
    JWT_SECRET: listOf(settings.JWT_SECRET),
    TRUST_PROXY: listOf(settings.TRUST_PROXY ?? ''),
    callbacks: callbacksOf(settings),
    lenders,
    gateways: withSecrets.map(gateway => ({ ...gateway, ...gateway.rules(settings) })),
  }
}

/** Reads only what reaching the database needs, for `migrate` and `create-admin`. @throws ConfigError */
export function readDatabaseUrl(env: NodeJS.ProcessEnv): string {
  return checked(Type.Pick(Settings, ['DATABASE_URL']), env).DATABASE_URL
}

/** What each of them gives. @throws ConfigError with the lines of all that do not fit */
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
      `CALLBACK_URL does not fit: plain HTTP is for this machine only, unless CALLBACK_ALLOW_HTTP=true. Example: CALLBACK_URL=${Settings.properties.CALLBACK_URL.examples[0]}`,
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

/** Only digits are a number here: TypeBox would make 1 of `1e5`, of `true` and of `1.9`. */
const WHOLE_NUMBER = /^\s*\d{1,15}\s*$/

function converted<T extends TSchema>(schema: T, given: Record<string, string | undefined>) {
  return Object.fromEntries(
    Object.entries(given).map(([name, text = '']) => {
      const property: TSchema = schema.properties[name]
      const isNoNumber = property.type === 'integer' && !WHOLE_NUMBER.test(text)
      return [name, isNoNumber ? text : Value.Convert(property, text)]
    }),
  )
}

function checked<T extends TSchema>(schema: T, env: NodeJS.ProcessEnv): Static<T> {
  // An empty setting is an unset one: compose files and shells cannot easily leave one out.
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
  const problem = isGiven ? 'does not fit' : 'is missing'
  return `${name} ${problem}: ${schema.description}${range}${length}. Example: ${name}=${schema.examples[0]}`
}

function lendersOf(env: NodeJS.ProcessEnv, gateways: SharedSecrets[]) {
  const path = env.LENDERS_FILE || undefined
  try {
    const file: unknown = path === undefined ? {} : JSON.parse(readFileSync(path, 'utf8'))
    return lendersFrom(file, gateways, name => secretsOf(name, env[name]))
  } catch (error) {
    const example = `{"LENDER_02": {"gateway_a": {"accounts": ["acc_29QQoUBi66xm2f"]}}}`
    throw new ConfigError(
      `LENDERS_FILE does not fit: ${(error as Error).message.replace(/\s+/g, ' ')}. Example of its content: ${example}`,
    )
  }
}

function secretsOf(name: string, text = ''): string[] {
  const secrets = listOf(text)
  if (text !== '' && secrets.length === 0)
    throw new Error(`${name} names no secret, only blanks and commas`)
  return secrets
}

/** The items of a setting that may name several, as while a secret rotates. */
export function listOf(commaSeparated: string): string[] {
  return commaSeparated
    .split(',')
    .map(item => item.trim())
    .filter(item => item !== '')
}
