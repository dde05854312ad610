import { html } from 'hono/html'
import { sql } from 'kysely'
import { askerOf } from '../../accounts/access/actor.ts'
import { operate, toRead } from '../../accounts/access/needs.ts'
import type { Role } from '../../accounts/account.ts'
import type { App } from '../../http/app.ts'
import { openCheckNow } from '../../ledger/check/check-now.ts'
import type { Finding } from '../../ledger/check/finding.ts'
import { answerPage } from '../frame/answer.ts'
import { type Html, nothing } from '../frame/html.ts'
import { DoneQuery, doneNotice, donePath } from '../frame/notice.ts'
import { column, type ListColumn } from '../lists/list.ts'
import { table } from '../lists/table.ts'
import type { PageContext } from '../page-context.ts'
import { words } from '../text/words.ts'

const schema = { querystring: DoneQuery }
const title = 'The ledger’s set-up'
const CLASSES = { ok: 'good', differs: 'wait', breaks: 'bad', unknown: 'hint' }

type Row = Finding & { since: Date; checked_at: Date }

export function ledgerPage(app: App, context: PageContext): void {
  const { db, formats } = context
  const columns: ListColumn<Row>[] = [
    column('check', 'Check', ({ check }) => words(check)),
    column('lender', 'Lender'),
    column('state', 'State', ({ state }) => html`<span class="${CLASSES[state]}">${state}</span>`),
    column('found', 'Found'),
    column('expected', 'Expected'),
    column('remedy', 'Remedy'),
    column('since', 'Since', ({ since }) => formats.time(since)),
  ]
  const checkNow = openCheckNow(context)
  app.post('/ledger/check', { config: operate() }, async (request, reply) => {
    await checkNow(askerOf(request))
    return reply.redirect(donePath('/console/ledger', 'ledgerChecked'), 303)
  })

  app.get('/ledger', toRead(schema), async (request, reply) => {
    const { rows } = await sql<Row>`
        select "check", lender, state, found, expected, remedy, since, checked_at
          from ops.ledger_finding
         order by array_position(array['breaks', 'differs', 'unknown', 'ok'], state),
                  "check", lender`.execute(db)
    const [first] = rows
    const body = html`<h1>${title}</h1>${doneNotice(request.query.done)}${
      first === undefined
        ? html`<p class="hint">It has not been checked yet.</p>`
        : html`<p>Last checked ${formats.time(first.checked_at)}.</p>${table(columns, rows, title)}`
    }${checkForm(request.user.role)}`
    return answerPage(request, reply, { title, body })
  })
}

function checkForm(role: Role): Html {
  if (role === 'viewer') return nothing
  return html`<form method="post" action="/console/ledger/check">
<p>Reads the ledger’s set-up, and tries again what waits for it.</p>
<button type="submit">Check now</button></form>`
}
