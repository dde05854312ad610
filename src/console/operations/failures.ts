import { html } from 'hono/html'
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { matching, type OperationFilter } from '../../operations/operation-filter.ts'
import { count } from '../frame/formats.ts'
import { type Html, nothing } from '../frame/html.ts'
import { MOST_COUNTED } from '../lists/count.ts'

const MOST_CODES = 8

/** Of the newest failures, how many have which reason; each leads to its rows. */
export async function failuresByReason(db: Database, filter: OperationFilter): Promise<Html> {
  if (filter.status !== 'failed' || filter.error_code !== undefined) return nothing
  const { rows } = await sql<{ code: string; failures: number }>`
    select code, count(*)::integer as failures
      from (select coalesce(o.response #>> '{errors,0,userMessageGlobalisationCode}',
                            o.response ->> 'userMessageGlobalisationCode') as code
              from loanops.operation o where ${matching(filter)} order by o.seq desc limit ${MOST_COUNTED}) newest
     where code is not null group by code order by 2 desc, 1 limit ${MOST_CODES}`.execute(db)
  if (rows.length === 0) return nothing
  const { time_zone: _, ...inUrl } = filter
  return html`<section class="box"><h2>Reasons of the newest ${count(MOST_COUNTED)}</h2>
<dl class="figures">${rows.map(({ code, failures }) => {
    const query = new URLSearchParams({ ...inUrl, error_code: code })
    return html`<dt>${code}</dt><dd><a href="/console/operations?${query.toString()}">${count(failures)}</a></dd>`
  })}</dl></section>`
}
