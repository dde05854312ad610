import createError from '@fastify/error'
import type { FastifyRequest } from 'fastify'

const NoBearerHere = createError(
  // The code is not UNAUTHORIZED, for which the console would lead to the login.
  'INVALID_CREDENTIALS',
  'The console takes no access token. Log in with its form, without the header Authorization.',
  401,
)

/**
 * Refuses a Bearer, which is neither ignored nor accepted here. Other schemes are for a proxy in front, such as one
 * that asks for a password of its own.
 */
export async function refuseBearer({ headers }: FastifyRequest): Promise<void> {
  if (/^bearer\b/i.test(headers.authorization ?? '')) throw new NoBearerHere()
}
