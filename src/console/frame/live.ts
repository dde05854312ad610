import { html } from 'hono/html'
import type { Content, Html } from './html.ts'

const LIVE_ID = 'live'
const EVERY = 'every 5s'

/** `refresh=off` in a page's URL keeps it as it is. */
const isLive = (query: { refresh?: string | undefined }) => query.refresh !== 'off'

/** A part of a page that keeps replacing itself with its current state. */
export function live(url: string, query: { refresh?: string | undefined }, content: Content): Html {
  if (!isLive(query)) return html`<div id="${LIVE_ID}">${content}</div>`
  return html`<div id="${LIVE_ID}" hx-get="${withoutNotice(url)}" hx-trigger="${EVERY}" hx-select="#${LIVE_ID}" hx-swap="outerMorph">${content}</div>`
}

/** What has just been done makes a list be read again for everybody: once, and not with each refresh. */
function withoutNotice(url: string): string {
  const target = new URL(url, 'http://console')
  target.searchParams.delete('done')
  return `${target.pathname}${target.search}`
}

/** The link that stops or starts refreshing; without JavaScript nothing refreshes, and the link reloads the page. */
export function refreshLink(url: string): Html {
  const target = new URL(url, 'http://console')
  const isOn = isLive({ refresh: target.searchParams.get('refresh') ?? undefined })
  if (isOn) target.searchParams.set('refresh', 'off')
  else target.searchParams.delete('refresh')
  const label = isOn ? 'Stop refreshing' : 'Refresh every 5 s'
  return html`<a class="quiet" href="${target.pathname}${target.search}">${label}</a>`
}
