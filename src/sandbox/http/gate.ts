import type { IncomingHttpHeaders } from 'node:http'
import { containerError } from './refusal.ts'

export type Credentials = {
  username: string
  password: string
  tenant: string
  // The Authorization header for this username and password.
  authorization: string
}

type Arrival = {
  method: string
  // As in the URL, still encoded.
  pathname: string
  query: URLSearchParams
  headers: IncomingHttpHeaders
}

/**
 * A write under /loans/… passes the close-of-business filter before authentication, and that filter crashes
 * without credentials.
 */
const LOAN_WRITE = /^loans\/./

export function refuseUnauthenticated(arrival: Arrival, path: string, allowed: Credentials): void {
  const { method, query, headers } = arrival
  const tenant = headers['fineract-platform-tenantid'] ?? query.get('tenantIdentifier')
  if (tenant !== allowed.tenant) throw containerError(400)
  if (path === 'authentication' && method === 'POST') return
  const { authorization } = headers
  if (authorization === undefined && method !== 'GET' && LOAN_WRITE.test(path)) {
    throw containerError(500)
  }
  if (authorization !== allowed.authorization) throw containerError(401)
}

/** Paths that Tomcat and Spring's firewall reject from anyone; a tab passes. */
export function isForbiddenPath(pathname: string): boolean {
  return /%25|;|%3b|%5c|%2e|\/\/|\/\.\.?(\/|$)|%0[^9]|%7f|\\/i.test(pathname)
}

export function hasEncodedSlash(pathname: string): boolean {
  return /%2f/i.test(pathname)
}

export function credentials(username: string, password: string, tenant: string): Credentials {
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
  return { username, password, tenant, authorization }
}
