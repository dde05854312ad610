import { Readable } from 'node:stream'
import { type Static, Type } from '@sinclair/typebox'
import { askerOf } from '../../accounts/access/actor.ts'
import { toRead } from '../../accounts/access/needs.ts'
import { auditExport } from '../../accounts/audit.ts'
import { asCsv } from '../../csv/as-csv.ts'
import { escapeFormula } from '../../csv/formula.ts'
import type { Database } from '../../database/database.ts'
import type { App } from '../../http/app.ts'
import { csvDownload, limitExports } from '../../http/csv-download.ts'
import { only } from '../../http/fields/schemas.ts'
import { Text } from '../../http/fields/text-fields.ts'
import { listAnswer, listQuery, named } from '../../http/lists/list-query.ts'
import { DaysQuery, withDays } from '../reconciliation/days-query.ts'
import { findSettlements, SETTLEMENTS_SORTED_BY } from './find-settlements.ts'
import { Settlement } from './settlement-record.ts'

const ROWS_AT_ONCE = 200
const COLUMNS = Object.keys(Settlement.properties) as (keyof Static<typeof Settlement>)[]

const { from, to } = DaysQuery.properties
const filters = { from, to, utr: Type.Optional(Text(200, '500000000001')) }
const description =
  'The days are those of the settlements. With a UTR and no days, settlements of every day are found.'
const listSchema = {
  operationId: 'listSettlements',
  summary: 'Lists what the gateways paid out, newest first, one item per settlement and lender',
  description: `${description} A page with large settlements has fewer items than its limit; the last page has no next_cursor.`,
  querystring: only({ ...filters, ...listQuery('settlements', ...SETTLEMENTS_SORTED_BY) }),
  response: listAnswer('settlements', Settlement, 'SettlementList'),
}
const csvSchema = {
  operationId: 'downloadSettlements',
  summary: 'Downloads the same as CSV',
  description,
  querystring: only(filters),
  produces: ['text/csv'],
  response: { 200: Type.Unsafe<Readable>(Type.String()) },
}

type Filter = { from?: string; to?: string; utr?: string }

export function settlementRoutes(app: App, { forReads: db }: { forReads: Database }): void {
  app.get('/settlements', toRead(listSchema), async ({ query }) =>
    named('settlements', await findSettlements(db, { ...query, days: await daysOf(query) })),
  )

  app.get(
    '/settlements.csv',
    { ...toRead(csvSchema), onRequest: limitExports },
    async (request, reply) => {
      const { query } = request
      const days = await daysOf(query)
      const find = (cursor?: string) =>
        findSettlements(db, { ...query, days, limit: ROWS_AT_ONCE, ...(cursor && { cursor }) })
      // The first page is read before the answer begins, so that a failure still has a status.
      const first = await find()
      await auditExport(db, askerOf(request), 'settlements.csv', query)
      return csvDownload(reply, 'settlements.csv').send(Readable.from(lines(first, find)))
    },
  )

  async function daysOf({ from, to, utr }: Filter) {
    if (utr !== undefined && from === undefined && to === undefined) return null
    return withDays(db, { ...(from && { from }), ...(to && { to }) })
  }
}

type Page = Awaited<ReturnType<typeof findSettlements>>

async function* lines(first: Page, find: (cursor: string) => Promise<Page>) {
  yield asCsv([COLUMNS])
  for (let part = first; ; part = await find(part.next_cursor)) {
    yield asCsv(part.page.map(row => COLUMNS.map(name => escapeFormula(String(row[name] ?? '')))))
    if (part.next_cursor === null) return
  }
}
