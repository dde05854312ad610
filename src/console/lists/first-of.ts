import { html } from 'hono/html'
import { count } from '../frame/formats.ts'
import { type Html, nothing } from '../frame/html.ts'

/** The first `max` rows, with a hint if there are more: read one row more than `max`. */
export function firstOf<Row>(rows: Row[], max: number): { shown: Row[]; rest: Html } {
  const rest =
    rows.length > max ? html`<p class="hint">Only the first ${count(max)} are shown.</p>` : nothing
  return { shown: rows.slice(0, max), rest }
}
