import { Type } from '@sinclair/typebox'
import { html } from 'hono/html'
import { sql } from 'kysely'
import { callbackFilters } from '../../callbacks/callback-record.ts'
import { listCallbacks, matchingCallbacks } from '../../callbacks/find-callbacks.ts'
import { type Html, link } from '../frame/html.ts'
import { callbackPath } from '../frame/paths.ts'
import { column, exportOnly, idColumn, numberColumn } from '../lists/columns.ts'
import { countUpTo } from '../lists/count.ts'
import type { ListColumn } from '../lists/list.ts'
import { listPage } from '../lists/list-routes.ts'
import { timeColumn } from '../lists/time-column.ts'
import type { PageContext } from '../page-context.ts'
import { localPeriod } from '../text/local-time.ts'
import { replayForms } from './replay-forms.ts'
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
