import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { html } from 'hono/html'
import { Time } from '../../http/day-fields.ts'
import { closed, oneOf } from '../../http/schemas.ts'
import { WITHOUT_NUL } from '../../http/text-fields.ts'
import { answerPage } from '../frame/answer.ts'
import { type Html, nothing } from '../frame/html.ts'
import { live, refreshLink } from '../frame/live.ts'
import { capital } from '../lists/filter-form.ts'
import type { PageContext } from '../page-context.ts'
import { clientOf } from './client-of.ts'
import { ENTRIES_PER_PAGE, findEntries, type Subject } from './entries.ts'
import { entryItem } from './entry-items.ts'
import { ledgerNow } from './ledger-now.ts'
import { clientPath, loanPath } from './subject-path.ts'

const schema = {
  // As the event named it, even if no loan can have that name.
  params: Type.Object({
    id: Type.String({ minLength: 1, maxLength: 200, pattern: WITHOUT_NUL }),
  }),
  querystring: Type.Object(
    {
      before: Type.Optional(Time),
      ledger: Type.Optional(oneOf(['now'])),
      refresh: Type.Optional(oneOf(['off'])),
    },
    closed,
  ),
}

export function timelinePage(context: PageContext): FastifyPluginAsyncTypebox {
  return async app => {
    for (const kind of ['loan', 'client'] as const)
      app.get(`/${kind}s/:id`, { schema }, async (request, reply) => {
        const subject = { kind, id: request.params.id }
        const body = await timeline(context, request, subject, request.query)
        return answerPage(request, reply, { title: `${capital(kind)} ${subject.id}`, body })
      })
  }
}

type Query = { before?: string; ledger?: string; refresh?: string }

async function timeline(
  context: PageContext,
  request: FastifyRequest,
  subject: Subject,
  query: Query,
): Promise<Html> {
  const { db, formats } = context
  const path = subject.kind === 'loan' ? loanPath(subject.id) : clientPath(subject.id)
  const [entries, client, now] = await Promise.all([
    findEntries(db, subject, query.before ?? null),
    subject.kind === 'loan' ? clientOf(db, subject.id) : null,
    query.ledger === 'now' ? ledgerNow(context, subject) : nothing,
  ])
  const page = entries.slice(0, ENTRIES_PER_PAGE)
  const last = page.at(-1)
  const older =
    entries.length > page.length && last !== undefined
      ? html`<p><a href="${path}?before=${encodeURIComponent(nextAfter(last.at))}">Older entries</a></p>`
      : nothing
  return html`<h1>${capital(subject.kind)} ${subject.id}</h1>
<p class="bar">${client === null ? nothing : html`<span>Client <a href="${clientPath(client)}">${client}</a></span>`}
<a role="button" class="secondary outline" href="${path}?ledger=now&amp;refresh=off">What is at the ledger now</a>
${query.ledger === 'now' ? nothing : refreshLink(request.url)}</p>
${now}
${live(
  request.url,
  query.ledger === 'now' ? { refresh: 'off' } : query,
  page.length === 0
    ? html`<p class="hint">Nothing is known of this ${subject.kind}. Its operations, payments and callbacks appear here.</p>`
    : html`<ul class="timeline">${page.map(entry => entryItem(entry, request.user.role, formats))}</ul>`,
)}
${older}`
}

/** A millisecond later, because the database's times are finer: an entry may appear twice, but none is missed. */
const nextAfter = (time: Date) => new Date(time.getTime() + 1).toISOString()
