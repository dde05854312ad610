import { html } from 'hono/html'
import type { Content, Html } from './html.ts'

const LIVE_ID = 'live'
const EVERY = 'every 5s'

/** `refresh=off` in the URL stops refreshing. */
const isLive = (query: { refresh?: string | undefined }) => query.refresh !== 'off'

export function live(url: string, query: { refresh?: string | undefined }, content: Content): Html {
  if (!isLive(query)) return html`<div id="${LIVE_ID}">${content}</div>`
  return html`<div id="${LIVE_ID}" hx-get="${withoutNotice(url)}" hx-trigger="${EVERY}" hx-select="#${LIVE_ID}" hx-swap="outerMorph">${content}</div>`
}

/** The URL without the notice, which must bypass the cache once, not on every refresh. */
function withoutNotice(url: string): string {
  const target = new URL(url, 'http://console')
  target.searchParams.delete('done')
  return `${target.pathname}${target.search}`
}

/** Without JavaScript nothing refreshes by itself, and the link reloads the page. */
export function refreshLink(url: string): Html {
  const target = new URL(url, 'http://console')
  const isOn = isLive({ refresh: target.searchParams.get('refresh') ?? undefined })
  if (isOn) target.searchParams.set('refresh', 'off')
  else target.searchParams.delete('refresh')
  const label = isOn ? 'Stop refreshing' : 'Refresh every 5 s'
  return html`<a class="quiet" href="${target.pathname}${target.search}">${label}</a>`
}
