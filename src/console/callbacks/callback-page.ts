import { html } from 'hono/html'
import { toRead } from '../../accounts/access/needs.ts'
import { findCallback } from '../../callbacks/find-callbacks.ts'
import type { App } from '../../http/app.ts'
import { only } from '../../http/fields/schemas.ts'
import { IdParams } from '../../http/fields/text-fields.ts'
import { actionsOn } from '../audit/actions-on.ts'
import { answerPage } from '../frame/answer.ts'
import { facts } from '../frame/html.ts'
import { live, liveQuery, refreshLink } from '../frame/live.ts'
import { doneNotice } from '../frame/notice.ts'
import { callbackPath } from '../frame/paths.ts'
import { idColumn, numberColumn, timeColumn } from '../lists/list.ts'
import { table } from '../lists/table.ts'
import type { PageContext } from '../page-context.ts'
import { callbackState } from './callbacks-page.ts'
import { callbackSubject } from './subject-of.ts'

const schema = { params: IdParams, querystring: only(liveQuery) }

type Callback = Awaited<ReturnType<typeof findCallback>>

export function callbackPage(app: App, { db, formats }: PageContext): void {
  app.get('/callbacks/:id', toRead(schema), async (request, reply) => {
    const { id } = request.params
    const callback = await findCallback(db, id)
    const actions = await actionsOn(db, id, formats)
    const body = html`<h1>${callback.type}</h1>
${doneNotice(request.query.done)}
${live(request.url, request.query, html`${factsOf(callback)}<p class="bar">${refreshLink(request.url)}</p>${attemptsOf(callback)}${actions}`)}
${
  request.user.role === 'viewer'
    ? ''
    : html`<h2>Actions</h2><form class="box" method="post" action="${callbackPath(id)}/resend">
<p>Sends it again under the same id, whatever its state.</p><button type="submit">Resend</button></form>`
}
<h2>Body</h2><pre tabindex="0">${JSON.stringify(callback.body, null, 2)}</pre>`
    return answerPage(request, reply, { title: `${callback.type} ${id}`, body })
  })

  function factsOf(callback: Callback) {
    return facts([
      ['State', callbackState(callback.state)],
      ['Subject', callbackSubject(callback.subject)],
      ['Next try', formats.time(callback.next_try_at)],
      ['Last error', callback.last_error],
      ['Created', formats.time(callback.created_at)],
      ['Delivered', formats.time(callback.delivered_at)],
      ['Callback id', callback.callback_id],
    ])
  }

  function attemptsOf({ attempts }: Callback) {
    if (attempts.length === 0) return html`<p class="hint">It has not been sent yet.</p>`
    const columns = [
      numberColumn('attempt', 'Attempt'),
      timeColumn(formats, 'started_at', 'Began'),
      timeColumn(formats, 'ended_at', 'Ended'),
      numberColumn('http_status', 'Status'),
      idColumn('error', 'Error'),
      idColumn('answer', 'Response'),
    ]
    return html`<h2>Attempts</h2>${table(columns, attempts, 'Attempts to deliver it')}`
  }
}
