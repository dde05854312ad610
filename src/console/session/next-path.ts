import { Type } from '@sinclair/typebox'
import { only } from '../../http/fields/schemas.ts'

/** A longer one would not fit into the cookie of a login at an issuer. */
const MAX_NEXT = 2_000
export const Next = Type.Optional(Type.String({ maxLength: MAX_NEXT }))
export const NextQuery = only({ next: Next })

/** The login that leads to this page, if its URL is not too long. */
export function loginBefore(page: string): string {
  const isKept = page !== '/console' && page.length <= MAX_NEXT
  return `/console/login${isKept ? `?next=${encodeURIComponent(page)}` : ''}`
}

/** The page after login: always one of the console, whatever the URL asks for. */
export function nextPath(wanted: string | undefined): string {
  if (wanted === undefined || !URL.canParse(wanted, OWN)) return '/console'
  // The URL is parsed as browsers do: `//host`, `/\host` and `/console/../..` lead elsewhere.
  const { origin, pathname, search } = new URL(wanted, OWN)
  const isOurs = origin === OWN && /^\/console(\/|$)/.test(pathname)
  return isOurs && !/^\/console\/log(in|out)/.test(pathname) ? `${pathname}${search}` : '/console'
}

const OWN = 'http://console.invalid'
