import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { html } from 'hono/html'
import { sql } from 'kysely'
import { askerOf } from '../../accounts/access/actor.ts'
import { toRead } from '../../accounts/access/needs.ts'
import { auditAlone } from '../../accounts/audit.ts'
import type { Database } from '../../database/database.ts'
import { type Catalogue, clientSubject } from '../../engine/operation.ts'
import type { App } from '../../http/app.ts'
import { oneOf, only } from '../../http/fields/schemas.ts'
import { WITHOUT_NUL } from '../../http/fields/text-fields.ts'
import { cursorPattern, type Shape } from '../../http/lists/cursor.ts'
import { whileAsked } from '../../http/while-asked.ts'
import { capitalised } from '../../text/capitalised.ts'
import { answerPage } from '../frame/answer.ts'
import { type Html, link, nothing } from '../frame/html.ts'
import { live, Refresh, refreshLink } from '../frame/live.ts'
import { clientPath, loanPath } from '../frame/paths.ts'
import { column, idColumn } from '../lists/list.ts'
import { firstOf, table } from '../lists/table.ts'
import type { PageContext } from '../page-context.ts'
import { clientOf } from './client-of.ts'
import { findEntries, PLACE, type Shown, type Subject } from './entries.ts'
import { entryItem } from './entry-items.ts'
import { ledgerNow } from './ledger-now.ts'

const place = (shapes: readonly Shape[]) =>
  Type.Optional(Type.String({ pattern: cursorPattern(shapes) }))

const schema = {
  // Any name that the filter of payments takes.
  params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 200, pattern: WITHOUT_NUL }) }),
  querystring: only({
    operation: place(PLACE.operation),
    payment: place(PLACE.payment),
    callback: place(PLACE.callback),
    action: place(PLACE.action),
    ledger: Type.Optional(oneOf(['now'])),
    refresh: Refresh,
  }),
}

export function timelinePage(app: App, context: PageContext): void {
  for (const kind of ['loan', 'client'] as const)
    app.get(`/${kind}s/:id`, toRead(schema), async (request, reply) => {
      const subject = { kind, id: request.params.id }
      if (request.query.ledger === 'now') await auditLook(context, request, subject)
      const asked = { subject, query: request.query, signal: whileAsked(reply) }
      const body = await timeline(context, request, asked)
      return answerPage(request, reply, { title: `${capitalised(kind)} ${subject.id}`, body })
    })
}

type Query = Shown & { ledger?: string; refresh?: string }

async function timeline(
  context: PageContext,
  request: FastifyRequest,
  { subject, query, signal }: { subject: Subject; query: Query; signal: AbortSignal },
): Promise<Html> {
  const { db, catalogue, formats } = context
  const path = subject.kind === 'loan' ? loanPath(subject.id) : clientPath(subject.id)
  const { ledger, refresh, ...shown } = query
  const [{ entries, older }, client, loans, now] = await Promise.all([
    findEntries(db, subject, shown),
    subject.kind === 'loan' ? clientOf(db, subject.id) : null,
    subject.kind === 'client' ? loansOfClient(db, catalogue, subject.id) : nothing,
    ledger === 'now' ? ledgerNow(context, subject, signal) : nothing,
  ])
  return html`<h1>${capitalised(subject.kind)} ${subject.id}</h1>
<p class="bar">${client === null ? nothing : html`<span>Client <a href="${clientPath(client)}">${client}</a></span>`}
<a role="button" class="secondary outline" href="${path}?ledger=now&amp;refresh=off">What is at the ledger now</a>
${subject.kind === 'loan' ? html`<a href="/console/references?loan=${encodeURIComponent(subject.id)}">References</a>` : nothing}
${ledger === 'now' ? nothing : refreshLink(request.url)}</p>
${now}
${live(
  request.url,
  ledger === 'now' ? { refresh: 'off' } : { refresh },
  html`${loans}${
    entries.length === 0
      ? html`<p class="hint">Nothing is known of this ${subject.kind}. Its operations, payments and callbacks appear here.</p>`
      : html`<ul class="timeline">${entries.map(entry => entryItem(entry, request.user.role, formats))}</ul>`
  }
${older === null ? nothing : html`<p><a href="${path}?${new URLSearchParams(older).toString()}">Older entries</a></p>`}`,
)}`
}

function auditLook({ db }: PageContext, request: FastifyRequest, { kind, id }: Subject) {
  const detail = { at: 'ledger' }
  return auditAlone(db, { ...askerOf(request), action: `${kind}.read`, subject: id, detail })
}

/** A client has far fewer loans than this. */
const MAX_LOANS = 100

type LoanOfClient = { loan: string; lender: string; last: string | null; creation: string }

/** The loans that operations created for this client, as far as LoanOps knows; the newest first. */
async function loansOfClient(db: Database, catalogue: Catalogue, client: string): Promise<Html> {
  const changing = [...catalogue.values()].filter(({ loanState }) => loanState !== undefined)
  const { rows } = await sql<LoanOfClient>`
    select created.external_id as loan, created.data ->> 'lenderConfig' as lender, created.status as creation,
           -- If the loan's own creation failed, what happened to a loan of this id is another client's.
           case when created.status = 'success' then (
             select o.operation_type from loanops.operation o
              where o.external_id = created.external_id and o.subject = created.subject and o.status = 'success'
                and o.operation_type = any(${changing.map(({ name }) => name)})
              order by o.seq desc limit 1) end as last
      from (select distinct on (external_id) external_id, seq, subject, data, status from loanops.operation
             where waits_for = ${clientSubject(client)} and operation_type = 'LOAN_CREATE'
             order by external_id, status = 'success' desc, seq desc) created
     order by created.seq desc limit ${MAX_LOANS + 1}`.execute(db)
  const { shown, rest } = firstOf(rows, MAX_LOANS)
  return rows.length === 0
    ? nothing
    : html`<h2>Loans</h2>${table(columns(catalogue), shown, 'Loans')}${rest}`
}

const columns = (catalogue: Catalogue) => [
  idColumn('loan', 'Loan', ({ loan }: LoanOfClient) => link(loanPath(loan), loan)),
  column(
    'last',
    'State',
    ({ last, creation }: LoanOfClient) =>
      catalogue.get(last ?? '')?.loanState ??
      (creation === 'processing' ? 'being created' : 'not created'),
  ),
  column('lender', 'Lender'),
]
