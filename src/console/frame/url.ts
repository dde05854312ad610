import type { FastifyRequest } from 'fastify'
import { nextPath } from '../session/next-path.ts'

/** The page of a form that is shown again at the URL that refused it. */
export const FORM_PAGE = 'form_page'

/** The page that a form or a link was on. */
export function placeBefore({ url, headers: { referer = '' } }: FastifyRequest): string {
  const formPage = new URL(url, 'http://console').searchParams.get(FORM_PAGE)
  if (formPage !== null) return nextPath(formPage)
  const path = URL.canParse(referer) ? new URL(referer) : undefined
  return path?.pathname.startsWith('/console') ? `${path.pathname}${path.search}` : '/console'
}

export const pathOf = (url: string): string => url.split('?', 1)[0] ?? ''

/** A page's URL with other values of these parameters, and without those that are null. */
export function urlWith(url: string, parameters: Record<string, string | null>): string {
  const { pathname, searchParams } = new URL(url, 'http://console')
  for (const [name, value] of Object.entries(parameters))
    if (value === null) searchParams.delete(name)
    else searchParams.set(name, value)
  return searchParams.size === 0 ? pathname : `${pathname}?${searchParams}`
}
