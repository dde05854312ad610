import { html } from 'hono/html'
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { type Catalogue, clientSubject } from '../../engine/operation.ts'
import { type Html, link, nothing } from '../frame/html.ts'
import { loanPath } from '../frame/paths.ts'
import { column, idColumn } from '../lists/columns.ts'
import { firstOf } from '../lists/first-of.ts'
import { table } from '../lists/table.ts'

/** A client has far fewer loans than this. */
const MAX_LOANS = 100

type LoanOfClient = { loan: string; lender: string; last: string | null; creation: string }

/** The loans that operations created for this client, as far as LoanOps knows; the newest first. */
export async function loansOfClient(
  db: Database,
  catalogue: Catalogue,
  client: string,
): Promise<Html> {
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
