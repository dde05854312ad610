import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { plainAddress } from '../http/connections/networks.ts'

export function addressOf(request: FastifyRequest): string | null {
  const address = plainAddress(request.ip ?? '')
  return isIP(address) === 0 ? null : address
}
