import { type Static, Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { html } from 'hono/html'
import { askerOf } from '../../accounts/access/actor.ts'
import { toDo, toOperate, toRead } from '../../accounts/access/needs.ts'
import type { App } from '../../http/app.ts'
import { oneOf, only } from '../../http/fields/schemas.ts'
import { IdParams, Note } from '../../http/fields/text-fields.ts'
import { invalidField } from '../../http/problem.ts'
import { newId } from '../../ids.ts'
import { answerPage } from '../frame/answer.ts'
import { count, type Formats } from '../frame/formats.ts'
import { performForm } from '../frame/forms/perform-form.ts'
import { facts, type Html, nothing } from '../frame/html.ts'
import { live, Refresh } from '../frame/live.ts'
import { bulkPath } from '../frame/paths.ts'
import { operationFilters } from '../lists/operation-filters.ts'
import { paymentFilters } from '../lists/payment-filters.ts'
import type { PageContext } from '../page-context.ts'
import { bulkCall } from './bulk-call.ts'
import { type Bulk, countItems, isMade, MAX_BULK_ITEMS, readBulk, stopBulk } from './bulk-store.ts'
import { confirmation } from './confirmation.ts'
import { DECISION_NAMES, DECISIONS } from './decisions.ts'
import { matchingItems } from './matching-items.ts'
import { matchingList } from './matching-list.ts'

const FILTERS = { operations: operationFilters, payments: paymentFilters }
const fields = {
  decision: oneOf(DECISION_NAMES),
  note: Type.Optional(Note),
  ...operationFilters,
  ...paymentFilters,
}
const Wanted = only(fields)
const Confirmed = only({
  ...fields,
  count: Type.String({ pattern: '^\\d{1,6}$' }),
  id: Type.Optional(IdParams.properties.id),
  digest: Type.Optional(Type.String({ maxLength: 40 })),
})
const ofOne = { params: IdParams }
const progressSchema = { ...ofOne, querystring: only({ refresh: Refresh }) }

export function bulkPages(app: App, context: PageContext): void {
  const { db, config, formats } = context
  const call = bulkCall(context)
  const itemsOf = ({ decision, note: _, ...filter }: Static<typeof Wanted>) =>
    matchingItems(decision, filter, config.LEDGER_TIMEZONE)
  app.get('/bulk', toRead({ querystring: Wanted }), async (request, reply) => {
    check(request.query)
    const counted = await countItems(db, itemsOf(request.query))
    const body = confirmation(request.query, counted)
    return answerPage(request, reply, { title: 'Bulk action', body })
  })

  app.post('/bulk', toDo(call, { body: Confirmed }), async (request, reply) => {
    const { count, id = newId(), digest: seen, ...wanted } = request.body
    check(wanted)
    if (Number(count) > MAX_BULK_ITEMS)
      throw invalidField('/count', `must be at most ${MAX_BULK_ITEMS}`)
    const { decision, note = null, ...filter } = wanted
    // A hand-made form has no digest, but has the count, which is also checked.
    const digest = seen ?? (await countItems(db, itemsOf(wanted))).digest
    const bulk = { id, decision, filter, note, count: Number(count), digest }
    if (await isMade(db, bulk, askerOf(request))) return reply.redirect(bulkPath(id), 303)
    return performForm(context, call, { asked: bulk, reply, done: bulkPath(id) })
  })

  app.get('/bulk/:id', toRead(progressSchema), async (request, reply) => {
    const bulk = await readBulk(db, request.params.id)
    const body = bulkProgress(bulk, request, formats)
    return answerPage(request, reply, { title: 'Bulk action', body })
  })

  app.post('/bulk/:id/stop', toOperate(ofOne), async (request, reply) => {
    await stopBulk(db, request.params.id, askerOf(request))
    return reply.redirect(bulkPath(request.params.id), 303)
  })
}

/** What the schema, which is one for all decisions, cannot check. */
function check({ decision, note, ...filter }: Static<typeof Wanted>): void {
  const { about, needsNote } = DECISIONS[decision]
  for (const name of Object.keys(filter))
    if (!(name in FILTERS[about])) throw invalidField(`/${name}`, 'is not a known field')
  if (needsNote && note === undefined) throw invalidField('/note', 'is required: say why')
}

function bulkProgress(bulk: Bulk, request: FastifyRequest, formats: Formats): Html {
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
