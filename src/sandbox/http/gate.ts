import type { IncomingHttpHeaders } from 'node:http'
import type { User } from '../access/user.ts'
import type { Ledger } from '../storage/ledger.ts'
import { containerError } from './refusal.ts'

type Arrival = {
  method: string
  // The path as the URL has it, still encoded.
  pathname: string
  query: URLSearchParams
  headers: IncomingHttpHeaders
}

/**
 * A write under /loans/… passes the close-of-business filter before authentication, and that filter crashes
 * without credentials.
 */
const LOAN_WRITE = /^loans\/./

/** Undefined for a call that tries credentials itself. */
export function authenticatedUser(
  { tenant: allowed, ledger }: { tenant: string; ledger: Ledger },
  arrival: Arrival,
  path: string,
): User | undefined {
  const { method, query, headers } = arrival
  const tenant = headers['fineract-platform-tenantid'] ?? query.get('tenantIdentifier')
  if (tenant !== allowed) throw containerError(400)
  if (path === 'authentication' && method === 'POST') return undefined
  const { authorization } = headers
  if (authorization === undefined && method !== 'GET' && LOAN_WRITE.test(path))
    throw containerError(500)
  const user = userOf(ledger, authorization ?? '')
  if (!user) throw containerError(401)
  return user
}

/** Paths that Tomcat and Spring's firewall reject from anyone; a tab passes. */
export function isForbiddenPath(pathname: string): boolean {
  return /%25|;|%3b|%5c|%2e|\/\/|\/\.\.?(\/|$)|%0[^9]|%7f|\\/i.test(pathname)
}

export function hasEncodedSlash(pathname: string): boolean {
  return /%2f/i.test(pathname)
}

export function keyOf({ username, password }: Pick<User, 'username' | 'password'>): string {
  return Buffer.from(`${username}:${password}`).toString('base64')
}

function userOf({ books }: Ledger, authorization: string): User | undefined {
  const key = /^Basic (.+)$/.exec(authorization)?.[1]
  for (const user of books.defined.users.values()) if (keyOf(user) === key) return user
  return undefined
}
