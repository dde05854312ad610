import { FormatRegistry, type Static, type TObject } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { LOOPBACK } from '../loopback.ts'
import type { OutboundProxy } from '../proxy.ts'
import { eachOf, listOf, ONE_AT_LEAST, textIfSet, wholeNumber, yesOrNo } from './setting-formats.ts'

export const CALLBACK_TYPES = [
  'operation.succeeded',
  'operation.failed',
  'payment.posted',
  'payment.suspended',
  'payment.reversed',
  'payment.returned',
  'payment.handled',
  'payment.dismissed',
  'payment.objected',
  'migration.completed',
  'migration.cancelled',
] as const
export type CallbackType = (typeof CALLBACK_TYPES)[number]

FormatRegistry.Set('callback-url', isCallbackUrl)
FormatRegistry.Set('callback-secrets', list => listOf(list).every(isCallbackSecret))
FormatRegistry.Set('callback-types', list =>
  listOf(list).every(one => (CALLBACK_TYPES as readonly string[]).includes(one)),
)

/** 24 bytes are 32 characters in base64. */
const SHORTEST_SECRET = 'whsec_'.length + 32

export const callbackSettings = {
  CALLBACK_URL: textIfSet(
    'where the LOS receives callbacks, without a user or password; unset: none are sent',
    'https://los.example.com/callbacks',
    { format: 'callback-url', overHttp: 'read the callbacks' },
  ),
  CALLBACK_SECRET: textIfSet(
    'signs callbacks: whsec_ and 24 to 64 bytes in base64; comma-separated while rotating, all of them sign',
    'whsec_c2l4dGVlbi1ieXRlcy1hbmQtc29tZS1tb3Jl',
    { format: 'callback-secrets', pattern: eachOf(SHORTEST_SECRET), secret: 'callback keys' },
  ),
  CALLBACK_TIMEOUT_MS: wholeNumber(
    'how long the receiver of callbacks may take',
    15_000,
    100,
    60_000,
  ),
  CALLBACK_EVENTS: textIfSet(
    'the types of callbacks that are sent, comma-separated; all by default',
    'operation.failed,payment.posted',
    { format: 'callback-types', pattern: ONE_AT_LEAST },
  ),
  CALLBACK_ALLOW_HTTP: yesOrNo(
    'whether to send callbacks over plain HTTP beyond this machine',
    false,
    true,
  ),
}

/** @returns one line per setting that does not go with the others */
export function callbackTroubles({
  CALLBACK_URL: url,
  CALLBACK_SECRET: secret,
  CALLBACK_ALLOW_HTTP,
}: NodeJS.ProcessEnv): string[] {
  if (!url || !URL.canParse(url)) return []
  const { protocol, hostname } = new URL(url)
  const faulty = (name: 'CALLBACK_URL' | 'CALLBACK_SECRET', why: string) =>
    `${name} is ${why}. Example: ${name}=${callbackSettings[name].examples[0]}`
  const troubles: string[] = []
  if (!secret)
    troubles.push(
      faulty('CALLBACK_SECRET', `missing: ${callbackSettings.CALLBACK_SECRET.description}`),
    )
  const isAllowed =
    Value.Convert(callbackSettings.CALLBACK_ALLOW_HTTP, CALLBACK_ALLOW_HTTP) === true
  if (protocol === 'http:' && !LOOPBACK.test(hostname) && !isAllowed) {
    const where = 'plain HTTP is allowed only to this machine, unless CALLBACK_ALLOW_HTTP=true'
    troubles.push(faulty('CALLBACK_URL', `invalid: ${where}`))
  }
  return troubles
}

export function callbackKeys(secrets: string): Buffer[] {
  return listOf(secrets).map(one => Buffer.from(one.slice('whsec_'.length), 'base64'))
}

/** Callbacks are signed; a user and a password in the URL would never be sent. */
function isCallbackUrl(text: string): boolean {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return false
  const { username, password } = new URL(text)
  return username === '' && password === ''
}

/** Standard Webhooks wants such secrets: a prefix, then 24 to 64 bytes in base64. */
function isCallbackSecret(text: string): boolean {
  const [, encoded = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? []
  const bytes = Buffer.from(encoded, 'base64')
  return bytes.length >= 24 && bytes.length <= 64 && bytes.toString('base64') === encoded
}

export type CallbackSettings = {
  proxy: OutboundProxy
  url: string
  keys: Buffer[]
  types: CallbackType[]
  timeoutMs: number
}

type Given = Static<TObject<typeof callbackSettings>>

export function callbacksOf(settings: Given, proxy: OutboundProxy): CallbackSettings | undefined {
  const { CALLBACK_URL: url, CALLBACK_SECRET: secrets = '', CALLBACK_EVENTS: types } = settings
  if (url === undefined) return undefined
  return {
    proxy,
    url,
    keys: callbackKeys(secrets),
    types: types === undefined ? [...CALLBACK_TYPES] : (listOf(types) as CallbackType[]),
    timeoutMs: settings.CALLBACK_TIMEOUT_MS,
  }
}
