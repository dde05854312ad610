import type { FastifyRequest } from 'fastify'

export function placeBefore({ headers: { referer = '' } }: FastifyRequest): string {
  const path = URL.canParse(referer) ? new URL(referer) : undefined
  return path?.pathname.startsWith('/console') ? `${path.pathname}${path.search}` : '/console'
}

/** A page's URL with other values of these parameters, and without those that are null. */
export function urlWith(url: string, parameters: Record<string, string | null>): string {
  const { pathname, searchParams } = new URL(url, 'http://console')
  for (const [name, value] of Object.entries(parameters))
    if (value === null) searchParams.delete(name)
    else searchParams.set(name, value)
  return searchParams.size === 0 ? pathname : `${pathname}?${searchParams}`
}
