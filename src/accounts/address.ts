import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'

/** Where a request came from. Null where a proxy passed on something that is no address. */
export function addressOf(request: FastifyRequest): string | null {
  // A link-local address carries its interface, which PostgreSQL's inet does not know; an IPv4 address comes in the
  // clothes of IPv6 where the socket listens on both.
  const address = request.ip?.replace(/%.*$/s, '').replace(/^::ffff:(?=\d+\.)/i, '') ?? ''
  return isIP(address) === 0 ? null : address
}
