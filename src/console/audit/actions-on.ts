import { html } from 'hono/html'
import { sql } from 'kysely'
import type { Database, Row } from '../../database/database.ts'
import type { Formats } from '../frame/formats.ts'
import { type Html, nothing } from '../frame/html.ts'
import { firstOf } from '../lists/table.ts'
import { actInWords } from '../text/words.ts'
import { detailOf } from './audit-page.ts'

const MAX_SHOWN = 50

type Action = Row<'loanops.audit', 'at' | 'actor' | 'action'> & { detail: Record<string, unknown> }

export async function actionsOn(db: Database, subject: string, formats: Formats): Promise<Html> {
  const { rows } = await sql<Action>`
    select at, actor, action, detail from ops.audit
     where subject = ${subject} and action not like '%.read' order by at desc
      limit ${MAX_SHOWN + 1}`.execute(db)
  if (rows.length === 0) return nothing
  const { shown, rest } = firstOf(rows, MAX_SHOWN)
  return html`<h2>Who decided what</h2><ul>${shown.map(row => html`<li>${actionInWords(row)} <small>${formats.time(row.at)}</small></li>`)}</ul>${rest}`
}

/** The action in words, such as: payment assign by asha.rao: “named by the branch”. */
export function actionInWords({ actor, action, detail }: Omit<Action, 'at'>): Html {
  return html`<strong>${actInWords(action)}</strong> by ${actor}${Object.keys(detail).length === 0 ? nothing : html`: ${detailOf(detail)}`}`
}
