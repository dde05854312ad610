import { html } from 'hono/html'
import { NOTHING } from '../../operations/reading/operation-filter.ts'
import { count, type Formats } from '../frame/formats.ts'
import { type Html, nothing } from '../frame/html.ts'
import { migrationPath } from '../frame/paths.ts'
import { countText } from '../lists/count.ts'
import { quoted } from '../text/quoted.ts'
import { words } from '../text/words.ts'
import type { Runs } from './last-runs.ts'
import type { Group, State } from './state.ts'

export function tiles(state: State, formats: Formats): Html {
  const { backlog, suspense, objections, callbacks, receiver, behind, runs } = state
  return html`<div class="tiles">
${ledgerTile(state, formats)}
${figures('Unfinished operations', backlog, {
  empty: 'Nothing is unfinished.',
  link: ({ name }) => [
    name === null ? 'under way' : `waits for ${words(name)}`,
    `/console/operations?waiting_for=${name ?? NOTHING}`,
  ],
})}
${figures('Payments in suspense', suspense, {
  empty: 'No payment is in suspense.',
  link: ({ name }) => [
    words(name),
    `/console/payments?${new URLSearchParams(name === null ? { state: 'suspense' } : { state: 'suspense', reason: name })}`,
  ],
})}
${figures('Payments with an objection', objections, {
  empty: 'No payment has an objection.',
  link: ({ name }) => [words(name), `/console/payments?objection=${name}`],
})}
${figures('Events that no batch has read', behind, {
  empty: 'Every event has been read.',
  link: ({ name }) => [name ?? '', '/console/sources'],
  more: html`<p><a href="/console/sources">Sources and queues</a></p>`,
})}
${figures('Callbacks', callbacks, {
  link: ({ name }) => [name ?? '', `/console/callbacks?state=${name}`],
  more: html`<p>${receiverInWords(receiver)}</p>`,
})}
${runs === null ? unread('Last runs') : runsTile(runs, formats)}
</div>`
}

type Link = [label: string, href: string]
type Texts = { empty?: string; link: (group: Group) => Link; more?: Html }

function figures(
  title: string,
  groups: Group[] | null,
  { empty = '', link, more = nothing }: Texts,
): Html {
  if (groups === null) return unread(title)
  return html`<section class="tile"><h2>${title}</h2>
${groups.length === 0 ? html`<p>${empty}</p>` : nothing}
<dl class="figures">${groups.map(group => {
    const [label, href] = link(group)
    return html`<dt>${label}</dt><dd><a href="${href}" aria-label="${label}: ${countText(group.count)}">${countText(group.count)}</a></dd>`
  })}</dl>${more}</section>`
}

const unread = (title: string) =>
  html`<section class="tile"><h2>${title}</h2><p class="wait">It could not be read in time.</p></section>`

const RECEIVER: Record<string, string> = {
  up: 'The receiver is up.',
  down: 'The receiver is down and is probed until it responds.',
  stopped: 'The receiver responded with 410: nothing is sent until callbacks are resumed.',
}

const receiverInWords = (state: string | null) =>
  state === null ? 'No callbacks are sent: CALLBACK_URL is not set.' : (RECEIVER[state] ?? state)

function runsTile({ batch, readback, backfill, migration }: Runs, formats: Formats): Html {
  const line = (
    title: string,
    run: { status: string; at: Date } | null,
    path: string,
    figure: string,
  ) =>
    html`<dt>${title} ${run === null ? nothing : html`<small>${formats.time(run.at)}</small>`}</dt><dd><a href="${path}">${run === null ? 'none yet' : figure}</a></dd>`
  return html`<section class="tile"><h2>Last runs</h2><dl class="figures">
${line('Batch', batch, '/console/batches', `${batch?.status}, ${count(batch?.posted ?? 0)} posted`)}
${line('Read-back', readback, '/console/readbacks', `${readback?.status}, ${count(readback?.found ?? 0)} found`)}
${line('Fetch', backfill, '/console/backfills', `${backfill?.status}, ${count(backfill?.missed ?? 0)} missed`)}
${migration === null ? nothing : html`<dt>Portfolio of ${migration.type}</dt><dd><a href="${migrationPath(migration.id)}">${count(migration.done)} of ${count(migration.valid_rows)}</a></dd>`}
</dl></section>`
}

function ledgerTile({ pause, readiness }: State, formats: Formats): Html {
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
