import { FormatRegistry } from '@sinclair/typebox'

export const CALLBACK_TYPES = [
  'operation.succeeded',
  'operation.failed',
  'payment.posted',
  'payment.suspended',
  'payment.returned',
  'payment.handled',
  'payment.dismissed',
  'payment.objected',
  'migration.completed',
  'migration.cancelled',
] as const
export type CallbackType = (typeof CALLBACK_TYPES)[number]

FormatRegistry.Set('callback-url', url => /^https?:\/\//.test(url) && URL.canParse(url))
FormatRegistry.Set('callback-secrets', areCallbackSecrets)
FormatRegistry.Set('callback-types', list =>
  list.split(',').every(one => (CALLBACK_TYPES as readonly string[]).includes(one.trim())),
)

export function callbackKeys(secrets: string): Buffer[] {
  return secrets.split(',').map(one => Buffer.from(one.trim().slice('whsec_'.length), 'base64'))
}

function areCallbackSecrets(list: string): boolean {
  return list.split(',').every(one => isCallbackSecret(one.trim()))
}

/** As Standard Webhooks wants secrets: a prefix, then 24 to 64 bytes in base64. */
function isCallbackSecret(text: string): boolean {
  const [, encoded = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? []
  const bytes = Buffer.from(encoded, 'base64')
  return bytes.length >= 24 && bytes.length <= 64 && bytes.toString('base64') === encoded
}
