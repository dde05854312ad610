import { Type } from '@sinclair/typebox'
import type { Gateway } from '../../payments/gateways/gateway.ts'
import { gateways } from '../../payments/gateways/gateways.ts'
import { accessSettings } from './access-settings.ts'
import { callbackSettings } from './callback-settings.ts'
import { gatewaySettings, settingsOf } from './gateway-settings.ts'
import {
  CREDENTIALS_RISK,
  choice,
  eachOf,
  ONE_AT_LEAST,
  text,
  textIfSet,
  wholeNumber,
  yesOrNo,
} from './setting-formats.ts'
import { signOnSettings } from './sign-on-settings.ts'

/** Hashing a longer password only costs time, and a pass phrase of thirty words fits. */
export const PASSWORD_CHARACTERS = { min: 12, max: 256 }
export const USERNAME = '^[A-Za-z0-9][A-Za-z0-9._@-]{0,99}$'
/** The greatest `integer` of PostgreSQL and Java. */
export const MAX_INT = 2_147_483_647
const ONE_DAY_SECONDS = 86_400
const TEN_YEARS_DAYS = 3_650

export const settingsWith = (others: readonly Gateway[]) =>
  Type.Object({ ...Settings.properties, ...settingsOf(others) }) as unknown as typeof Settings

export const Settings = Type.Object({
  ROLE: choice(['api', 'worker', 'all'], 'what this process does: api, worker or all', 'all'),
  HOST: text('the address to listen on', '0.0.0.0', { default: '127.0.0.1' }),
  PORT: wholeNumber('the port to listen on', 3000, 0, 65_535),
  SANDBOX_PORT: wholeNumber(
    'the port of the sandbox ledger that "npm start" runs; the sandbox gateways and PostgreSQL have the next two; 0: any free ones',
    3200,
    0,
    65_533,
  ),
  OPS_PORT: Type.Optional(
    Type.Integer({
      description: 'the port for metrics, docs and the details of readyz; unset: PORT',
      examples: [9090],
      minimum: 1,
      maximum: 65_535,
    }),
  ),
  CONNECTIONS_PER_ADDRESS: wholeNumber(
    'how many connections one address may hold, except for TRUST_PROXY; 0: any number',
    0,
    0,
    65_535,
  ),
  WEBHOOKS_PER_MINUTE: wholeNumber(
    'how many events a minute each process takes from one address, except for those with a valid signature or from allowedCidrs; 0: any number',
    0,
    0,
    1_000_000,
  ),
  DATABASE_URL: text(
    'PostgreSQL 15 or newer, one host; special characters of the password percent-encoded',
    'postgres://loanops:secret@localhost:5432/loanops',
    { format: 'database-url', secret: 'password of a URL' },
  ),
  DATABASE_POOL_MAX: wholeNumber(
    'pooled PostgreSQL connections per process; an api opens up to 20 more, a worker up to 13',
    20,
    4,
    500,
  ),
  ...accessSettings,
  JWT_SECRET: text(
    'signs access tokens, at least 32 characters; comma-separated while rotating, the first one signs',
    'another-long-random-text-of-32-characters',
    { minLength: 32, pattern: eachOf(32), secret: 'list' },
  ),
  JWT_TTL_SECONDS: wholeNumber('how long an access token is valid', 3_600, 60, ONE_DAY_SECONDS),
  ADMIN_USERNAME: textIfSet('the first administrator, created at startup', 'admin', {
    pattern: USERNAME,
    isHidden: true,
  }),
  ADMIN_PASSWORD: textIfSet('the first administrator’s password', 'a long pass phrase', {
    minLength: PASSWORD_CHARACTERS.min,
    maxLength: PASSWORD_CHARACTERS.max,
    secret: 'whole',
  }),
  LEDGER_URL: text(
    'the ledger’s URL, up to and including /api/v1, without a user or password',
    'https://ledger:8443/fineract-provider/api/v1',
    { format: 'ledger-url', overHttp: CREDENTIALS_RISK },
  ),
  LEDGER_TENANT: text('the ledger’s tenant', 'default', {
    default: 'default',
    format: 'header-value',
  }),
  LEDGER_USERNAME: text('the ledger’s user', 'loanops'),
  LEDGER_PASSWORD: text('the ledger user’s password', 'secret', { secret: 'whole' }),
  LEDGER_CA_FILE: textIfSet(
    'a readable PEM file with the certificate of the authority that signed the ledger’s',
    '/etc/ssl/ledger.pem',
    { format: 'certificate-file' },
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
  LEDGER_CONCURRENCY_TOTAL: Type.Optional(
    Type.Integer({
      description:
        'concurrent ledger calls over all processes, half of them reserved for live operations; the same value everywhere; unset: no limit',
      examples: [8],
      minimum: 2,
      maximum: 10_000,
    }),
  ),
  LEDGER_CHECK_MINUTES: wholeNumber('how often the ledger is checked; 0: never', 10, 0, 1_440),
  LEDGER_TIMEZONE: text('the ledger tenant’s time zone: Area/City, or UTC', 'Asia/Kolkata', {
    default: 'Asia/Kolkata',
    format: 'time-zone',
  }),
  LEDGER_OFFICE_ID: wholeNumber('the office that new clients belong to', 1, 1, MAX_INT),
  LEDGER_PAYMENT_TYPE: text('the payment type under which receipt numbers are kept', 'LoanOps', {
    default: 'LoanOps',
  }),
  ...gatewaySettings,
  ...(settingsOf(gateways) as Record<never, never>),
  ...signOnSettings,
  BACKFILL_CRON: text(
    'when payments are fetched from the gateways, if they have API credentials',
    '10 * * * *',
    { default: '10 * * * *', format: 'cron' },
  ),
  REPAYMENT_CRON: text('when payments are posted to the ledger', '*/30 * * * *', {
    default: '*/30 * * * *',
    format: 'cron',
  }),
  RECONCILE_CRON: text(
    'when posted payments are read back from the ledger; empty: never',
    '15 3 * * *',
    { default: '15 3 * * *', format: 'cron-or-off', minLength: 0 },
  ),
  RECONCILE_DAYS: wholeNumber(
    'how many days back posted payments are compared with the ledger',
    35,
    1,
    TEN_YEARS_DAYS,
  ),
  OPERATION_DEADLINE_SECONDS: wholeNumber(
    'how long until an operation that the ledger never accepted fails',
    ONE_DAY_SECONDS,
    1,
    365 * ONE_DAY_SECONDS,
  ),
  OPERATION_RETENTION_DAYS: wholeNumber(
    'how many days the personal data of finished operations is kept; 0 keeps it indefinitely',
    0,
    0,
    TEN_YEARS_DAYS,
  ),
  RAW_RETENTION_DAYS: wholeNumber(
    'how many days payment events are kept as they came, once their payments are closed; 0 keeps them indefinitely',
    0,
    0,
    TEN_YEARS_DAYS,
  ),
  ATTEMPT_RETENTION_DAYS: wholeNumber(
    'how many days the attempts of finished operations are kept; 0 keeps them indefinitely',
    0,
    0,
    TEN_YEARS_DAYS,
  ),
  ...callbackSettings,
  HTTPS_PROXY: textIfSet(
    'the HTTP proxy for HTTPS calls to gateways, CALLBACK_URL and OIDC_ISSUER; the ledger is called directly',
    'http://proxy.example.com:3128',
    { format: 'http-url', isHidden: true },
  ),
  NO_PROXY: textIfSet(
    'the hosts that are called without HTTPS_PROXY, comma-separated',
    'los.example.com',
    { pattern: ONE_AT_LEAST },
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: textIfSet(
    'where traces are sent by OTLP over HTTP; unset: nowhere',
    'http://collector:4318',
    { format: 'http-url' },
  ),
  CONSOLE_ENABLED: yesOrNo('whether role api serves /console, the operators’ pages', true),
  UNKNOWN_FIELDS: choice(
    ['refuse', 'ignore'],
    'what becomes of unknown members of an operation: refuse, or ignore',
    'refuse',
  ),
  DOCS_ENABLED: yesOrNo('whether to serve /docs and the OpenAPI documents', true),
  LOG_LEVEL: choice(
    ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    'trace, debug, info, warn, error, fatal or silent',
    'info',
  ),
  TRUST_PROXY: textIfSet(
    'the exact addresses of your own proxies, or networks, comma-separated',
    '10.0.0.5',
    {
      // A mere "true" would trust whatever address a caller puts into X-Forwarded-For.
      format: 'proxies',
      pattern: ONE_AT_LEAST,
    },
  ),
})
