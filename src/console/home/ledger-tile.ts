import { html } from 'hono/html'
import type { Formats } from '../frame/formats.ts'
import { type Html, nothing } from '../frame/html.ts'
import { quoted } from '../text/quoted.ts'
import { words } from '../text/words.ts'
import type { State } from './state.ts'

export function ledgerTile({ pause, readiness }: State, formats: Formats): Html {
  const { status, database, queue, stuck, ledger } = readiness
  const waiting = ledger.waiting_for.filter(reason => reason !== 'paused')
  return html`<section class="tile"><h2>Ledger</h2>
${
  pause === null
    ? html`<p class="${waiting.length === 0 ? 'good' : 'wait'}">${waiting.length === 0 ? 'Writes are enabled.' : `Operations wait for: ${waiting.map(words).join(', ')}.`}</p>`
    : html`<p class="wait">Writes have been paused since ${formats.time(pause.since)}${pause.until === null ? nothing : html`, until ${formats.time(pause.until)}`}: ${quoted(pause.reason)}</p>`
}
${ledger.in_front === null ? nothing : html`<p class="bad">For at least one operation, ${ledger.in_front}.</p>`}
${setUp(ledger.findings)}
<p>${status === 'ready' ? html`<span class="good">This service is ready.</span>` : html`<span class="bad">This service is not ready: database ${database}, queue ${queue}${stuck.length === 0 ? nothing : `, stuck: ${stuck.join(', ')}`}.</span>`}</p>
</section>`
}

function setUp(findings: State['readiness']['ledger']['findings']): Html {
  const link = html`<a href="/console/ledger">its set-up</a>`
  if (findings === 'not_known') return html`<p class="hint">Not checked yet: ${link}.</p>`
  const of = (state: string) => findings.filter(one => one.state === state).length
  const [breaks, differs] = [of('breaks'), of('differs')]
  if (breaks + differs === 0) return html`<p>Nothing was found to be wrong with ${link}.</p>`
  return html`<p class="${breaks > 0 ? 'bad' : 'wait'}">Found in ${link}: ${breaks} × breaks, ${differs} × differs.</p>`
}
