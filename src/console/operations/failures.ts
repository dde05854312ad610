import { html } from 'hono/html'
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { someMatching } from '../../operations/reading/find-operations.ts'
import {
  matchingOperations,
  type OperationFilter,
  orderOf,
} from '../../operations/reading/operation-filter.ts'
import { type Html, nothing } from '../frame/html.ts'
import { countText, countUpTo, MAX_COUNTED } from '../lists/count.ts'

const MAX_CODES = 8

/** The reasons are those of the newest failures; each number counts all that failed for that reason. */
export async function failuresByReason(db: Database, filter: OperationFilter): Promise<Html> {
  if (filter.status !== 'failed' || filter.error_code !== undefined) return nothing
  const codes = await sql<{ code: string }>`
    select code
      from (select loanops.error_code(o.response) as code
              from loanops.operation o where ${matchingOperations(filter)} order by ${orderOf(filter)} desc limit ${MAX_COUNTED}) newest
     where code is not null group by code order by count(*) desc, 1 limit ${MAX_CODES}`.execute(db)
  if (codes.rows.length === 0) return nothing
  const reasons = await Promise.all(
    codes.rows.map(async ({ code }) => {
      const wanted = { ...filter, error_code: code }
      const { time_zone: _, ...inUrl } = wanted
      const failures = await countUpTo(db, someMatching(wanted, MAX_COUNTED + 1))
      return { code, failures, href: `/console/operations?${new URLSearchParams(inUrl)}` }
    }),
  )
  return html`<section class="box"><h2>Why they failed</h2>
<dl class="figures">${reasons.map(({ code, failures, href }) => html`<dt>${code}</dt><dd><a href="${href}">${failures === null ? 'show' : countText(failures)}</a></dd>`)}</dl></section>`
}
