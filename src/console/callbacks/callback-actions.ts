import { type Static, Type } from '@sinclair/typebox'
import { html } from 'hono/html'
import { askerOf } from '../../accounts/access/actor.ts'
import { operate, toOperate, toRead } from '../../accounts/access/needs.ts'
import { callbackFilters } from '../../callbacks/callback-record.ts'
import { replayCall } from '../../callbacks/replay-call.ts'
import {
  replayCallbacks,
  resendCallback,
  resumeCallbacks,
} from '../../callbacks/replay-callbacks.ts'
import type { App } from '../../http/app.ts'
import { Time } from '../../http/fields/day-fields.ts'
import { only } from '../../http/fields/schemas.ts'
import { IdParams } from '../../http/fields/text-fields.ts'
import { answerPage } from '../frame/answer.ts'
import { count, type Formats } from '../frame/formats.ts'
import { formRoutes } from '../frame/forms/form-routes.ts'
import { hiddenFields } from '../frame/forms/hidden-fields.ts'
import { donePath } from '../frame/notice.ts'
import { callbackPath } from '../frame/paths.ts'
import type { PageContext } from '../page-context.ts'
import { localEnd, localTime } from '../text/local-time.ts'

const { state, type } = callbackFilters
const Replay = only({ from: Time, to: Time, state, type })
const local = Type.String({ maxLength: 40 })
/** `from` and `to` in the ledger's zone, as the browser's fields send them. */
const Count = only({ from: local, to: local, state, type })
const resendSchema = { params: IdParams }

export function callbackActions(app: App, context: PageContext): void {
  const { db, formats } = context
  app.post('/callbacks/:id/resend', toOperate(resendSchema), async (request, reply) => {
    const { id } = request.params
    await resendCallback(db, id, askerOf(request))
    return reply.redirect(donePath(callbackPath(id), 'resent'), 303)
  })

  app.get('/callbacks/replay', toRead({ querystring: Count }), async (request, reply) => {
    const { query } = request
    const from = localTime(query.from, formats.timeZone, 'from').toISOString()
    const to = localEnd(query.to, formats.timeZone, 'to').toISOString()
    const replay = { ...query, from, to }
    const counted = { ...replay, dry_run: true }
    const { callbacks } = await replayCallbacks(db, counted, askerOf(request))
    const body = confirmation(formats, replay, callbacks)
    return answerPage(request, reply, { title: 'Replay callbacks', body })
  })

  formRoutes(app, context)('/callbacks/replay', { body: Replay }, replayCall, {
    done: ({ body }, { next_from: from }) =>
      from === null
        ? donePath('/console/callbacks', 'replayed')
        : donePath(listPath({ ...body, from }), 'replayedInPart'),
  })

  app.post('/callbacks/resume', { config: operate() }, async (request, reply) => {
    await resumeCallbacks(db, askerOf(request))
    return reply.redirect(donePath('/console/callbacks', 'callbacksResumed'), 303)
  })
}

/** The list of these callbacks, whose form for a replay has the same times. */
const listPath = (replay: Static<typeof Replay>) =>
  `/console/callbacks?${new URLSearchParams(replay)}`

function confirmation(formats: Formats, replay: Static<typeof Replay>, callbacks: number) {
  const { from, to, state = 'failed', type } = replay
  return html`<h1>Replay callbacks</h1>
<p><strong>${count(callbacks)}</strong> ${state} callbacks ${type === undefined ? '' : `of the type ${type} `}from ${formats.time(from)} to ${formats.time(to)} will be sent again, under the same ids.</p>
<form class="box" method="post" action="/console/callbacks/replay">
${hiddenFields(Object.entries({ ...replay, state }))}
<button type="submit">Replay ${count(callbacks)}</button> <a href="${listPath(replay)}">Go back</a></form>`
}
