import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { html } from 'hono/html'
import { sql } from 'kysely'
import { closed } from '../../http/schemas.ts'
import type { Finding } from '../../ledger/check/finding.ts'
import { answerPage } from '../frame/answer.ts'
import { words } from '../frame/formats.ts'
import type { ListColumn } from '../lists/list.ts'
import { table } from '../lists/table.ts'
import type { PageContext } from '../page-context.ts'

const schema = { querystring: Type.Object({}, closed) }
const title = 'The ledger’s set-up'
const CLASSES = { ok: 'good', differs: 'wait', breaks: 'bad', unknown: 'hint' }

type Row = Finding & { since: Date; checked_at: Date }

export function ledgerPage({ db, formats }: PageContext): FastifyPluginAsyncTypebox {
  const columns: ListColumn<Row>[] = [
    { name: 'check', title: 'Check', cell: ({ check }) => words(check) },
    { name: 'lender', title: 'Lender' },
    {
      name: 'state',
      title: 'State',
      cell: ({ state }) => html`<span class="${CLASSES[state]}">${state}</span>`,
    },
    { name: 'found', title: 'Found' },
    { name: 'expected', title: 'Expected' },
    { name: 'remedy', title: 'Remedy' },
    { name: 'since', title: 'Since', cell: ({ since }) => formats.time(since) },
  ]
  return async app => {
    app.get('/ledger', { schema }, async (request, reply) => {
      const { rows } = await sql<Row>`
        select "check", lender, state, found, expected, remedy, since, checked_at
          from ops.ledger_finding
         order by array_position(array['breaks', 'differs', 'unknown', 'ok'], state), "check", lender`.execute(
        db,
      )
      const [first] = rows
      const body = html`<h1>${title}</h1>${
        first === undefined
          ? html`<p class="hint">It has not been checked yet.</p>`
          : html`<p>Last checked ${formats.time(first.checked_at)}.</p>${table(columns, rows, title)}`
      }`
      return answerPage(request, reply, { title, body })
    })
  }
}
