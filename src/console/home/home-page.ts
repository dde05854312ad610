import { Type } from '@sinclair/typebox'
import { html } from 'hono/html'
import { askerOf } from '../../accounts/access/actor.ts'
import { operate, toRead } from '../../accounts/access/needs.ts'
import type { App } from '../../http/app.ts'
import { only } from '../../http/fields/schemas.ts'
import { Note } from '../../http/fields/text-fields.ts'
import { pauseCall } from '../../operations/pause/pause-call.ts'
import { resumeLedger } from '../../operations/pause/pause-ledger.ts'
import { requestBatchNow } from '../../payments/batch/request-batch.ts'
import { answerPage } from '../frame/answer.ts'
import { formRoutes } from '../frame/forms/form-routes.ts'
import type { Html } from '../frame/html.ts'
import { live, liveQuery, refreshLink } from '../frame/live.ts'
import { doneNotice, donePath } from '../frame/notice.ts'
import { sharedLoad } from '../lists/shared-load.ts'
import type { PageContext } from '../page-context.ts'
import { localTime } from '../text/local-time.ts'
import { charts } from './charts.ts'
import { ledgerForms } from './ledger-forms.ts'
import { loadState, type State } from './state.ts'
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
${ledgerForms(state, request.user.role)}`
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
  const state = await loadState(context)
  return { state, above: charts(state.history), below: tiles(state, context.formats) }
}
