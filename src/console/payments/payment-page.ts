import { Type } from '@sinclair/typebox'
import { html } from 'hono/html'
import { askerOf } from '../../accounts/access/actor.ts'
import { toRead } from '../../accounts/access/needs.ts'
import type { App } from '../../http/app.ts'
import { oneOf, only } from '../../http/fields/schemas.ts'
import { listQuery } from '../../http/lists/list-query.ts'
import { isWorthRemembering } from '../../payments/decisions/remember.ts'
import { kindQuery, PaymentParams as params } from '../../payments/payment-record.ts'
import { auditBodies } from '../../payments/reading/audit-bodies.ts'
import { findAttempts } from '../../payments/reading/find-attempts.ts'
import { findEvents } from '../../payments/reading/find-events.ts'
import { readNamedPayment } from '../../payments/reading/find-payments.ts'
import { capitalised } from '../../text/capitalised.ts'
import { actionsOn } from '../audit/actions-on.ts'
import { answerPage } from '../frame/answer.ts'
import { live, liveQuery, refreshLink } from '../frame/live.ts'
import { doneNotice } from '../frame/notice.ts'
import { attemptsTable } from '../operations/attempts-table.ts'
import type { PageContext } from '../page-context.ts'
import { eventList } from './event-list.ts'
import { paymentContext } from './payment-context.ts'
import { paymentFacts } from './payment-facts.ts'
import { paymentForms } from './payment-forms.ts'
import { statedOnly } from './stated-only.ts'

const schema = {
  params,
  querystring: only({
    ...kindQuery.properties,
    bodies: Type.Optional(oneOf(['true'])),
    cursor: listQuery('events', 'bigint', 'uuid', 'name').cursor,
    ...liveQuery,
  }),
}

export function paymentPage(app: App, context: PageContext): void {
  const { db, config, formats } = context
  app.get('/payments/:gateway/:gateway_payment_id', toRead(schema), async (request, reply) => {
    const { gateway, gateway_payment_id: paymentId } = request.params
    const { kind, bodies, cursor, refresh, done } = request.query
    const name = { gateway, paymentId, ...(kind && { kind }) }
    const stated = await statedOnly(context, name)
    if (stated !== undefined)
      return answerPage(request, reply, { title: `${gateway} ${paymentId}`, body: stated })
    const { id, version, payment } = await readNamedPayment(db, name)
    const withBodies = bodies === 'true'
    if (withBodies) await auditBodies(db, askerOf(request), payment)
    const [events, attempts, around, actions] = await Promise.all([
      findEvents(db, payment, { withBodies, ...(cursor && { cursor }) }),
      findAttempts(db, id),
      paymentContext(db, id, payment),
      actionsOn(db, `${gateway}/${paymentId}`, formats),
    ])
    const refs = isWorthRemembering(config, payment) ? around.refs : []
    const body = html`<h1>${capitalised(payment.kind)} ${paymentId}</h1>
${doneNotice(done)}
${live(
  request.url,
  // A refresh would scroll away the bytes that somebody is reading.
  withBodies ? { refresh: 'off' } : { refresh },
  html`${paymentFacts(payment, around, formats)}
<p class="bar">${refreshLink(request.url)}</p>
${attempts.length === 0 ? '' : attemptsTable(attempts, formats)}${actions}`,
)}
${paymentForms(payment, version, { ...around, refs }, request.user.role)}
${eventList(events, { withBodies, url: request.url }, formats)}`
    return answerPage(request, reply, { title: `${gateway} ${paymentId}`, body })
  })
}
