import { Type } from '@sinclair/typebox'
import { html } from 'hono/html'
import { sql } from 'kysely'
import { CALLBACK_STATES, callbackFilters } from '../../callbacks/callback-record.ts'
import {
  type CallbackFilter,
  listCallbacks,
  matchingCallbacks,
} from '../../callbacks/find-callbacks.ts'
import { CALLBACK_TYPES } from '../../config/settings/callback-settings.ts'
import type { Formats } from '../frame/formats.ts'
import { type Html, link, nothing } from '../frame/html.ts'
import { callbackPath } from '../frame/paths.ts'
import { countUpTo } from '../lists/count.ts'
import {
  column,
  exportOnly,
  idColumn,
  type ListColumn,
  numberColumn,
  timeColumn,
} from '../lists/list.ts'
import { listPage } from '../lists/list-routes.ts'
import type { PageContext } from '../page-context.ts'
import { localPeriod } from '../text/local-time.ts'
import { callbackSubject } from './subject-of.ts'

type CallbackRow = Awaited<ReturnType<typeof listCallbacks>>['page'][number]

export const callbacksPage = listPage<typeof callbackFilters, CallbackRow>(context => {
  const { db, formats } = context
  const { from, to } = localPeriod(formats.timeZone)
  return {
    path: '/callbacks',
    title: 'Callbacks',
    filters: { ...callbackFilters, from: Type.Optional(from), to: Type.Optional(to) },
    typed: filter => ({ from: formats.text(filter.from), to: formats.text(filter.to) }),
    cursor: ['bigint'],
    empty: 'No callback matches. If CALLBACK_URL is set, callbacks to the LOS appear here.',
    columns: callbackColumns(context),
    load: query => listCallbacks(db, query),
    count: filter =>
      countUpTo(db, sql`select from ops.callback where ${matchingCallbacks(filter)}`),
    below: filter => replayForms(formats, filter),
  }
})

export function callbackState(state: string): Html {
  const look = { delivered: 'good', failed: 'bad' }[state] ?? 'wait'
  return html`<span class="${look}">${state}</span>`
}

function callbackColumns({ formats }: PageContext): ListColumn<CallbackRow>[] {
  return [
    idColumn('callback_id', 'Callback', row => link(callbackPath(row.callback_id), row.type)),
    idColumn('subject', 'Subject', row => callbackSubject(row.subject)),
    column('state', 'State', row => callbackState(row.state)),
    numberColumn('attempts', 'Attempts'),
    timeColumn(formats, 'next_try_at', 'Next try'),
    numberColumn('last_status', 'Last status'),
    idColumn('last_error', 'Last error'),
    timeColumn(formats, 'created_at', 'Created'),
    timeColumn(formats, 'delivered_at', 'Delivered'),
    ...exportOnly('type'),
  ]
}

function replayForms(formats: Formats, { state = 'failed', type, from, to }: CallbackFilter): Html {
  const local = (time?: string) => formats.text(time).replace(' ', 'T')
  const option = (one: string, chosen: string | undefined) =>
    html`<option value="${one}" ${one === chosen ? html`selected` : nothing}>${one}</option>`
  return html`<h2>Actions</h2><div class="forms">
<form action="/console/callbacks/replay"><h3>Replay</h3>
<label>From <input type="datetime-local" step="1" name="from" required value="${local(from)}"></label>
<label>To <input type="datetime-local" step="1" name="to" required value="${local(to)}"></label>
<p><small>In the ledger’s time zone.</small></p>
<label>State <select name="state">${CALLBACK_STATES.map(one => option(one, state))}</select></label>
<label>Type <select name="type"><option value="">any</option>${CALLBACK_TYPES.map(one => option(one, type))}</select></label>
<button type="submit" class="secondary">Count</button></form>
<form method="post" action="/console/callbacks/resume"><h3>Resume after 410</h3>
<p>Start sending callbacks again.</p>
<button type="submit" class="secondary">Resume callbacks</button></form>
</div>`
}
