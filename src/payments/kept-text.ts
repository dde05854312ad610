import type { IncomingHttpHeaders } from 'node:http'

/** Longer ids and names are nobody's; the whole header is kept beside. */
const MAX_CHARACTERS = 500
/** Ours, or a person's: they have no business in a table of events. */
const SECRET_HEADERS = new Set([
  'authorization',
  'cookie',
  'proxy-authorization',
  'x-internal-token',
])

/** A caller's text as PostgreSQL can keep it, or null where it is none. */
export function keptText(value: unknown): string | null {
  if (typeof value !== 'string' || value === '') return null
  return keepable(value).slice(0, MAX_CHARACTERS).toWellFormed()
}

export function keptHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !SECRET_HEADERS.has(name))
      .map(([name, value]) => [name, keepable(String(value)).toWellFormed()]),
  )
}

/** PostgreSQL keeps no NUL in a text. */
function keepable(text: string): string {
  return text.replaceAll('\0', '\uFFFD')
}
