import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { html } from 'hono/html'
import { type RawBuilder, sql } from 'kysely'
import { answerPage } from '../frame/answer.ts'
import { words } from '../frame/formats.ts'
import type { Content, Html } from '../frame/html.ts'
import { capital } from '../lists/filter-form.ts'
import { table, textOf } from '../lists/table.ts'
import type { PageContext } from '../page-context.ts'

const MOST_SHOWN = 200

type Row = Record<string, unknown>

/** Where payments come from, which event types came, and what the queues hold. */
export function sourcesPage({ db, formats }: PageContext): FastifyPluginAsyncTypebox {
  return async app => {
    app.get('/sources', async (request, reply) => {
      const sections = await Promise.all([
        section(
          'Sources',
          sql`select source, lender, gateway, events, events_behind, last_event_at, problem
                                 from ops.source order by events_behind desc, source`,
        ),
        section(
          'Gateways',
          sql`select gateway, lender, last_event_at, fetched_until, missed, is_silent, last_error
                                  from ops.gateway order by gateway, lender nulls first`,
        ),
        section(
          'Types of events',
          sql`select source, event_type, taken, events, last_at
                                         from ops.event_type order by taken = 'unknown' desc, events desc`,
        ),
        section('Queues', sql`select * from ops.queue order by queue`),
        section(
          'Jobs that were given up',
          sql`select queue, job_id, error::text, failed_at from ops.job_failed order by failed_at desc`,
        ),
      ])
      const body = html`<h1>Sources and queues</h1>${sections}`
      return answerPage(request, reply, { title: 'Sources and queues', body })
    })
  }

  async function section(title: string, query: RawBuilder<unknown>): Promise<Html> {
    const { rows } = await sql<Row>`${query} limit ${MOST_SHOWN}`.execute(db)
    const [first] = rows
    if (first === undefined) return html`<h2>${title}</h2><p class="hint">None.</p>`
    const columns = Object.keys(first).map(name => ({
      name,
      title: capital(words(name)),
      isId: true,
      cell: (row: Row): Content =>
        row[name] instanceof Date ? formats.time(row[name]) : textOf(row, name),
    }))
    return html`<h2>${title}</h2>${table(columns, rows, title)}`
  }
}
