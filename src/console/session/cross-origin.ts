import createError from '@fastify/error'
import type { FastifyRequest } from 'fastify'

const CrossOrigin = createError(
  'FORBIDDEN',
  'This request came from another site. Open the console itself and try again there.',
  403,
)
const SAFE = ['GET', 'HEAD', 'OPTIONS']

export const isSafe = ({ method }: FastifyRequest) => SAFE.includes(method)

/** Without these headers the caller is no browser, so nobody was tricked into sending the request. */
export async function refuseCrossOrigin(request: FastifyRequest): Promise<void> {
  if (isSafe(request)) return
  const { 'sec-fetch-site': site, origin } = request.headers
  if (origin === 'null') throw new CrossOrigin()
  // `none`: the user typed or bookmarked the URL.
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw new CrossOrigin()
  // Over plain HTTP, browsers send no Sec-Fetch-Site except to localhost.
  if (site === undefined && origin !== undefined && origin !== ownOrigin(request))
    throw new CrossOrigin()
}

/** The origin that the browser sees, according to our own proxies. */
const ownOrigin = ({ protocol, host }: FastifyRequest) => `${protocol}://${host}`
