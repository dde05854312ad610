import type { IncomingHttpHeaders } from 'node:http'
import { storableText } from '../../text/storable.ts'

/** No genuine id or name is longer; the complete header is stored too. */
const MAX_CHARACTERS = 500
/** Credentials of ours or of a person, which must not be stored with events. */
const SECRET_HEADERS = new Set([
  'authorization',
  'cookie',
  'proxy-authorization',
  'x-internal-token',
])

export function shortText(value: unknown): string | null {
  if (typeof value !== 'string' || value === '') return null
  return storableText(value.slice(0, MAX_CHARACTERS))
}

export function storableHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !SECRET_HEADERS.has(name))
      .map(([name, value]) => [name, storableText(String(value))]),
  )
}
