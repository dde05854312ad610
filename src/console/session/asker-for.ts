import type { FastifyRequest } from 'fastify'
import { askerAs } from '../../accounts/actor.ts'
import type { Asker } from '../../accounts/audit.ts'

export function askerFor(request: FastifyRequest): Asker {
  return askerAs(request.user.name, request)
}
