import createError from '@fastify/error'
import type { FastifyRequest } from 'fastify'

const NoBearerHere = createError(
  // Not UNAUTHORIZED, for which the console would lead to the login.
  'INVALID_CREDENTIALS',
  'The console takes no access token. Log in with its form, without the header Authorization.',
  401,
)

/** Neither ignored nor accepted. Other schemes are for a proxy in front, such as one that asks for a password of its own. */
export async function refuseBearer({ headers }: FastifyRequest): Promise<void> {
  if (/^bearer\b/i.test(headers.authorization ?? '')) throw new NoBearerHere()
}
