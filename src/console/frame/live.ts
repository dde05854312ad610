import { Type } from '@sinclair/typebox'
import { html } from 'hono/html'
import { oneOf } from '../../http/fields/schemas.ts'
import type { Content, Html } from './html.ts'
import { DoneField } from './notice.ts'
import { urlWith } from './url.ts'

const LIVE_ID = 'live'
const EVERY = 'every 5s'

export const Refresh = Type.Optional(oneOf(['off']))
/** The query of a page that refreshes itself and shows notices. */
export const liveQuery = { refresh: Refresh, done: DoneField }

/** `refresh=off` in the URL stops refreshing. */
const isLive = (query: { refresh?: string | undefined }) => query.refresh !== 'off'

export function live(url: string, query: { refresh?: string | undefined }, content: Content): Html {
  if (!isLive(query)) return html`<div id="${LIVE_ID}">${content}</div>`
  return html`<div id="${LIVE_ID}" hx-get="${urlWith(url, WITHOUT_NOTICE)}" hx-trigger="${EVERY}" hx-select="#${LIVE_ID}" hx-swap="outerMorph">${content}</div>`
}

/** The notice must bypass the cache once, not on every refresh. */
const WITHOUT_NOTICE = { done: null }

/** Without JavaScript, nothing refreshes by itself, and the link reloads the page. */
export function refreshLink(url: string): Html {
  const { searchParams } = new URL(url, 'http://console')
  const isOn = isLive({ refresh: searchParams.get('refresh') ?? undefined })
  const label = isOn ? 'Stop refreshing' : 'Refresh every 5 s'
  return html`<a class="quiet" href="${urlWith(url, { ...WITHOUT_NOTICE, refresh: isOn ? 'off' : null })}">${label}</a>`
}
