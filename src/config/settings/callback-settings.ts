import { FormatRegistry } from '@sinclair/typebox'
import type { OutboundProxy } from '../proxy.ts'
import { listOf } from './setting-formats.ts'

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
FormatRegistry.Set('callback-secrets', areCallbackSecrets)
FormatRegistry.Set('callback-types', list =>
  list.split(',').every(one => (CALLBACK_TYPES as readonly string[]).includes(one.trim())),
)

export function callbackKeys(secrets: string): Buffer[] {
  return secrets.split(',').map(one => Buffer.from(one.trim().slice('whsec_'.length), 'base64'))
}

/** Callbacks are signed; a user and a password in the URL would never be sent. */
function isCallbackUrl(text: string): boolean {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return false
  const { username, password } = new URL(text)
  return username === '' && password === ''
}

function areCallbackSecrets(list: string): boolean {
  return list.split(',').every(one => isCallbackSecret(one.trim()))
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

type Given = {
  CALLBACK_URL?: string
  CALLBACK_SECRET?: string
  CALLBACK_EVENTS?: string
  CALLBACK_TIMEOUT_MS: number
}

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
