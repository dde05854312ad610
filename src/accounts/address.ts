import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'

/** Null if a proxy passed on something else. */
export function addressOf(request: FastifyRequest): string | null {
  // A link-local address includes its interface, which PostgreSQL's inet does not accept. A socket that
  // listens on both families maps IPv4 addresses to IPv6.
  const address = request.ip?.replace(/%.*$/s, '').replace(/^::ffff:(?=\d+\.)/i, '') ?? ''
  return isIP(address) === 0 ? null : address
}
