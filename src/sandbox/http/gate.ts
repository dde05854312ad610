import type { IncomingHttpHeaders } from 'node:http'
import { containerError } from './refusal.ts'

export type Credentials = {
  username: string
  password: string
  tenant: string
  // The header that the first two make.
  authorization: string
}

export type Arrival = {
  method: string
  // As it stands in the URL, still encoded.
  pathname: string
  query: URLSearchParams
  headers: IncomingHttpHeaders
}

/**
 * A write under /loans/… meets the filter of the close of business before the credentials are
 * looked at, and that filter falls over when there are none at all.
 */
const LOAN_WRITE = /^loans\/./

export function refuseStrangers(arrival: Arrival, path: string, allowed: Credentials): void {
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

/** What Tomcat and the firewall behind it let nobody send. */
export function isForbiddenPath(pathname: string): boolean {
  return /%25|;|%3b|%5c|%2e|\/\/|\/\.\.?(\/|$)|%0|%7f|\\/i.test(pathname)
}

export function hasEncodedSlash(pathname: string): boolean {
  return /%2f/i.test(pathname)
}

export function credentials(username: string, password: string, tenant: string): Credentials {
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
  return { username, password, tenant, authorization }
}
