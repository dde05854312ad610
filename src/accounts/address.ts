import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'

export function addressOf(request: FastifyRequest): string | null {
  // PostgreSQL's inet accepts no interface, and a dual-stack socket maps IPv4 addresses to IPv6.
  const address = request.ip?.replace(/%.*$/s, '').replace(/^::ffff:(?=\d+\.)/i, '') ?? ''
  return isIP(address) === 0 ? null : address
}
