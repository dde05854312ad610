import createError from '@fastify/error'
import type { FastifyRequest } from 'fastify'

const CrossOrigin = createError(
  'FORBIDDEN',
  'This request came from another site. Open the console itself and try again there.',
  403,
)
const SAFE = ['GET', 'HEAD', 'OPTIONS']

export const isSafe = ({ method }: FastifyRequest) => SAFE.includes(method)

/**
 * An onRequest hook that refuses what another site makes a browser send. Browsers always say where a form comes from; a
 * request that does not is not a browser's, and carries no cookie against its sender's will.
 */
export async function refuseCrossOrigin(request: FastifyRequest): Promise<void> {
  if (isSafe(request)) return
  const { 'sec-fetch-site': site, origin } = request.headers
  if (origin === 'null') throw new CrossOrigin()
  // `none`: typed or bookmarked by the user.
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw new CrossOrigin()
  // Browsers send no Sec-Fetch-Site over plain HTTP beyond this machine.
  if (site === undefined && origin !== undefined && origin !== ownOrigin(request))
    throw new CrossOrigin()
}

/** Behind our own proxies, as they say that the browser sees it. */
const ownOrigin = ({ protocol, host }: FastifyRequest) => `${protocol}://${host}`
