import { Type } from '@sinclair/typebox'
import { html } from 'hono/html'
import { askerOf } from '../../accounts/access/actor.ts'
import { operate, toRead } from '../../accounts/access/needs.ts'
import type { Role } from '../../accounts/account.ts'
import type { App } from '../../http/app.ts'
import { only } from '../../http/fields/schemas.ts'
import { Note } from '../../http/fields/text-fields.ts'
import { pauseCall } from '../../operations/pause/pause-call.ts'
import { resumeLedger } from '../../operations/pause/pause-ledger.ts'
import { requestBatchNow } from '../../payments/batch/request-batch.ts'
import { answerPage } from '../frame/answer.ts'
import type { Formats } from '../frame/formats.ts'
import { formRoutes } from '../frame/forms/form-routes.ts'
import { type Html, nothing } from '../frame/html.ts'
import { live, liveQuery, refreshLink } from '../frame/live.ts'
import { doneNotice, donePath } from '../frame/notice.ts'
import { sharedLoad } from '../lists/shared-load.ts'
import type { PageContext } from '../page-context.ts'
import { localTime } from '../text/local-time.ts'
import { charts } from './charts.ts'
import { readState, type State } from './state.ts'
import { tiles } from './tiles.ts'

const FRESH_MS = 2_000
/** Older figures would mislead. */
const MAX_AGE_MS = 10_000

const pageSchema = { querystring: only(liveQuery) }
const pauseSchema = {
  body: only({ reason: Note, until: Type.Optional(Type.String({ maxLength: 40 })) }),
}

export function homePage(app: App, context: PageContext): void {
  const { db, boss, config } = context
  const loads = sharedLoad<Loaded>(FRESH_MS, MAX_AGE_MS)
  app.get('', toRead(pageSchema), async (request, reply) => {
    const { state, above, below } = await loads.get('', () => load(context))
    const body = html`<h1>Overview</h1>
${doneNotice(request.query.done)}
${live(request.url, request.query, html`${above}<p class="bar">${refreshLink(request.url)}</p>${below}`)}
${ledgerForms(state, context.formats, request.user.role)}`
    return answerPage(request, reply, { title: 'Overview', body })
  })

  formRoutes(app, context)('/pause', pauseSchema, pauseCall, {
    asked({ body: { reason, until } }) {
      const end = until === undefined ? null : localTime(until, config.LEDGER_TIMEZONE)
      return { reason, until: end?.toISOString() ?? null }
    },
    done() {
      loads.forget()
      return donePath('/console', 'paused')
    },
  })

  app.post('/resume', { config: operate() }, async (request, reply) => {
    await resumeLedger(db, askerOf(request))
    loads.forget()
    return reply.redirect(donePath('/console', 'resumed'), 303)
  })

  app.post('/batch', { config: operate() }, async (request, reply) => {
    await requestBatchNow(db, boss, askerOf(request))
    return reply.redirect(donePath('/console/batches', 'batch'), 303)
  })
}

/** The part that every viewer sees is rendered once. */
type Loaded = { state: State; above: Html; below: Html }

async function load(context: PageContext): Promise<Loaded> {
  const state = await readState(context)
  return { state, above: charts(state.history), below: tiles(state, context.formats) }
}

function ledgerForms({ pause }: State, formats: Formats, role: Role): Html {
  if (role === 'viewer') return nothing
  return html`<h2>Actions</h2><div class="forms">
${
  pause === null
    ? nothing
    : html`<form method="post" action="/console/resume"><h3>Resume writes to the ledger</h3>
<p>Whatever waits continues within a few seconds.</p><button type="submit">Resume</button></form>`
}
<form method="post" action="/console/pause"><h3>${pause === null ? 'Pause writes to the ledger' : 'Change the pause'}</h3>
<label>Reason <input name="reason" required maxlength="1000" value="${pause?.reason ?? ''}"></label>
<label>Until <input name="until" type="datetime-local" step="1" value="${asBrowsersWrite(formats.text(pause?.until))}"></label>
<p><small>In the ledger’s time zone; empty: until somebody resumes. Intake, webhooks and reads continue.</small></p>
<button type="submit" class="secondary">Pause</button></form>
<form method="post" action="/console/batch"><h3>Post payments now</h3>
<p>Reads new events and posts what can be posted, without waiting for the next half hour.</p>
<button type="submit" class="secondary">Start a batch</button></form>
</div>`
}

/** Browsers leave out seconds of zero: a value with them would count as typed, and come back after a login. */
const asBrowsersWrite = (time: string) => time.replace(' ', 'T').replace(/:00$/, '')
