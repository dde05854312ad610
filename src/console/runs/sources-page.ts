import { html } from 'hono/html'
import { type RawBuilder, sql } from 'kysely'
import { toRead } from '../../accounts/access/needs.ts'
import type { Role } from '../../accounts/account.ts'
import type { App } from '../../http/app.ts'
import { capitalised } from '../../text/capitalised.ts'
import { answerPage } from '../frame/answer.ts'
import { type Content, type Html, nothing } from '../frame/html.ts'
import { DoneQuery, doneNotice } from '../frame/notice.ts'
import { cellText, firstOf, table } from '../lists/table.ts'
import type { PageContext } from '../page-context.ts'
import { words } from '../text/words.ts'

const MAX_SHOWN = 200
const schema = { querystring: DoneQuery }

type Row = Record<string, unknown>

const SECTIONS: [title: string, query: RawBuilder<unknown>][] = [
  [
    'Sources',
    sql`select source, lender, gateway, events, events_behind, last_event_at, problem
          from ops.source order by events_behind desc, source`,
  ],
  [
    'Gateways',
    sql`select gateway, lender, last_event_at, fetched_until, missed, is_silent, last_error
          from ops.gateway order by gateway, lender nulls first`,
  ],
  [
    'Last calls to the webhooks',
    sql`select gateway, at, address, status, event_type, lender, reason
          from loanops.webhook_call where at > now() - interval '1 day' order by gateway, at desc`,
  ],
  [
    'Types of events',
    sql`select source, event_type, taken, events, last_at
          from ops.event_type order by taken = 'unknown' desc, events desc`,
  ],
  ['Queues', sql`select * from ops.queue order by queue`],
  [
    'Jobs that were given up',
    sql`select queue, job_id, error::text, failed_at from ops.job_failed order by failed_at desc`,
  ],
]

export function sourcesPage(app: App, { db, formats }: PageContext): void {
  app.get('/sources', toRead(schema), async (request, reply) => {
    const sections = await Promise.all(SECTIONS.map(([title, query]) => section(title, query)))
    const { dead, sources } = await forms()
    const body = html`<h1>Sources and queues</h1>${doneNotice(request.query.done)}${sections}${sourceForms(dead, sources, request.user.role)}`
    return answerPage(request, reply, { title: 'Sources and queues', body })
  })

  async function forms(): Promise<{ dead: string[]; sources: string[] }> {
    const { rows } = await sql<{ dead: string[]; sources: string[] }>`
      select array(select distinct q.dead_letter from pgboss.queue q join pgboss.job j on j.name = q.dead_letter
                    where j.state = 'created' order by 1) as dead,
             array(select name from core.source order by name) as sources`.execute(db)
    return rows[0] ?? { dead: [], sources: [] }
  }

  async function section(title: string, query: RawBuilder<unknown>): Promise<Html> {
    const { rows } = await sql<Row>`${query} limit ${MAX_SHOWN + 1}`.execute(db)
    const { shown, rest } = firstOf(rows, MAX_SHOWN)
    const [first] = rows
    if (first === undefined) return html`<h2>${title}</h2><p class="hint">None.</p>`
    const columns = Object.keys(first).map(name => ({
      name,
      title: capitalised(words(name)),
      ...(isNumber(rows, name) ? { isNumber: true } : { isId: true }),
      cell: (row: Row) => cellOf(row, name),
    }))
    return html`<h2>${title}</h2>${table(columns, shown, title)}${rest}`
  }

  function cellOf(row: Row, name: string): Content {
    const value = row[name]
    if (value instanceof Date) return formats.time(value)
    if (typeof value === 'boolean') return value ? 'yes' : 'no'
    return cellText(row, name)
  }
}

/** pg returns PostgreSQL's large numbers as text. */
const isNumber = (rows: Row[], name: string) =>
  rows.some(row => row[name] !== null) &&
  rows.every(row => row[name] === null || /^\d+(\.\d+)?$/.test(cellText(row, name)))

function sourceForms(deadQueues: string[], sources: string[], role: Role): Html {
  if (role === 'viewer') return nothing
  const option = (one: string) => html`<option value="${one}">${one}</option>`
  const requeue = html`<form method="post" action="/console/sources/redrive"><h3>Requeue failed jobs</h3>
<p>Puts its jobs back into their queue. Fix the cause first.</p>
<label>Queue <select name="queue">${deadQueues.map(option)}</select></label>
<button type="submit" class="secondary">Requeue</button></form>`
  const reread = html`<form method="post" action="/console/sources/reread"><h3>Read events again</h3>
<p>The next batch rereads the events that the source’s base view could not read or did not know.</p>
<label>Source <select name="source">${sources.map(option)}</select></label>
<label>Since <input type="datetime-local" name="since" required></label>
<p><small>In the ledger’s time zone.</small></p>
<button type="submit" class="secondary">Read again</button></form>`
  if (deadQueues.length + sources.length === 0) return nothing
  return html`<h2>Actions</h2><div class="forms">${deadQueues.length === 0 ? nothing : requeue}${sources.length === 0 ? nothing : reread}</div>`
}
