import type { FastifyRequest } from 'fastify'

/** The page of the console that the request came from. */
export function placeBefore({ headers: { referer = '' } }: FastifyRequest): string {
  const path = URL.canParse(referer) ? new URL(referer) : undefined
  return path?.pathname.startsWith('/console') ? `${path.pathname}${path.search}` : '/console'
}
