import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { plainAddress } from '../http/networks.ts'

export function addressOf(request: FastifyRequest): string | null {
  // PostgreSQL's inet accepts no interface.
  const address = plainAddress(request.ip?.replace(/%.*$/s, '') ?? '')
  return isIP(address) === 0 ? null : address
}
