import { isUtf8 } from 'node:buffer'
import { html } from 'hono/html'
import type { findEvents } from '../../payments/reading/find-events.ts'
import type { Formats } from '../frame/formats.ts'
import { facts, type Html, nothing } from '../frame/html.ts'
import { urlWith } from '../frame/url.ts'
import { words } from '../text/words.ts'

type Events = Awaited<ReturnType<typeof findEvents>>
type Shown = { withBodies: boolean; url: string }

export function eventList(
  { events, next_cursor }: Events,
  { withBodies, url }: Shown,
  formats: Formats,
): Html {
  const more =
    next_cursor === null
      ? nothing
      : html`<p><a href="${urlWith(url, { done: null, cursor: next_cursor })}">Older events</a></p>`
  return html`<h2 id="events">Events</h2>
${events.length === 0 ? html`<p class="hint">Its events have been deleted. What they said is above.</p>` : nothing}
${withBodies || events.length === 0 ? nothing : html`<p><a href="${urlWith(url, { done: null, bodies: 'true' })}#events">Show headers and bodies</a></p>`}
<ul class="timeline">${events.map(
    event => html`<li>${formats.time(event.received_at)} <strong>${event.event_type ?? 'no type'}</strong>
${event.counts === true ? html`<span class="good">counts</span>` : html`<span class="wait">does not count: ${words(event.counts)}</span>`}
${facts([
  ['Event id', event.event_id],
  ['From', event.address],
  ['Verified by', event.verified_by],
  ['Row', `${event.raw_table} ${event.raw_id}`],
])}${event.body_base64 === null ? nothing : contentOf(event.headers, event.body_base64)}</li>`,
  )}</ul>${more}`
}

function contentOf(headers: object | null, base64: string): Html {
  const bytes = Buffer.from(base64, 'base64')
  const [title, text] = isUtf8(bytes)
    ? [`Body, ${bytes.length} bytes`, bytes.toString()]
    : [`Body, ${bytes.length} bytes in base64`, base64]
  return html`<details><summary>Headers</summary><pre tabindex="0">${JSON.stringify(headers, null, 2)}</pre></details>
<p>${title}</p><pre tabindex="0">${text}</pre>`
}
