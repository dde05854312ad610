import { html } from 'hono/html'
import type { Html } from '../frame/html.ts'
import { words } from '../text/words.ts'
import { DECISIONS, type DecisionName } from './decisions.ts'

/** A link to the rows that match the filter of a decision now. */
export function matchingList(decision: DecisionName, filter: Record<string, string>): Html {
  const { about } = DECISIONS[decision]
  const chosen = Object.entries(filter).map(([name, value]) => `${words(name)}: ${value}`)
  return html`<a href="/console/${about}?${new URLSearchParams(filter).toString()}">${about}${chosen.length === 0 ? '' : ` with ${chosen.join(', ')}`}</a>`
}
