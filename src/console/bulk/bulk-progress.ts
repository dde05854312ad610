import type { FastifyRequest } from 'fastify'
import { html } from 'hono/html'
import { facts } from '../frame/facts.ts'
import { count, type Formats } from '../frame/formats.ts'
import { type Html, nothing } from '../frame/html.ts'
import { live } from '../frame/live.ts'
import { bulkPath } from '../frame/paths.ts'
import type { Bulk } from './bulk-store.ts'
import { DECISIONS } from './decisions.ts'
import { matchingList } from './matching-list.ts'

export function bulkProgress(bulk: Bulk, request: FastifyRequest, formats: Formats): Html {
  const { decision, filter, status, total, done, refused, reasons, note } = bulk
  const { about, label } = DECISIONS[decision]
  const isRunning = status === 'running'
  const content = html`<label>${count(done + refused)} of ${count(total)} ${about} <progress value="${done + refused}" max="${Math.max(total, 1)}"></progress></label>
${facts([
  ['Status', status],
  ['Decision', label],
  ['Filter', matchingList(decision, filter)],
  ['By', bulk.actor],
  ['Note', note],
  ['Done', count(done)],
  ['Refused', count(refused)],
  ['Began', formats.time(bulk.createdAt)],
  ['Ended', formats.time(bulk.endedAt)],
])}
${reasons.length === 0 ? nothing : html`<h2>Why some were refused</h2><dl class="figures box">${reasons.map(one => html`<dt>${one.reason}</dt><dd>${count(one.count)}</dd>`)}</dl>`}
${
  isRunning && request.user.role !== 'viewer'
    ? html`<form method="post" action="${bulkPath(bulk.id)}/stop"><button type="submit" class="secondary">Stop</button></form>`
    : nothing
}`
  return html`<h1>Bulk action</h1>${live(request.url, isRunning ? {} : { refresh: 'off' }, content)}`
}
