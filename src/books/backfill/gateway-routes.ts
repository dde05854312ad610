import { type Static, Type } from '@sinclair/typebox'
import { sql } from 'kysely'
import type { PgBoss } from 'pg-boss'
import { askerOf } from '../../accounts/access/actor.ts'
import { toOperate, toRead } from '../../accounts/access/needs.ts'
import type { Config } from '../../config/config.ts'
import type { Database } from '../../database/database.ts'
import { equalTo } from '../../database/equal-to.ts'
import type { App } from '../../http/app.ts'
import { asJson } from '../../http/as-json.ts'
import { Time } from '../../http/fields/day-fields.ts'
import { oneOf, only, optional, titled, titledBody } from '../../http/fields/schemas.ts'
import { Id } from '../../http/fields/text-fields.ts'
import { listAnswer, listQuery, named } from '../../http/lists/list-query.ts'
import { openView } from '../../http/lists/open-view.ts'
import { GATEWAYS } from '../../payments/gateways/gateways.ts'
import { Backfill, GatewayState } from './backfill-record.ts'
import { requestBackfillNow } from './request-backfill-now.ts'

const backfills = sql<object>`
  select backfill_id, gateway, lender, "from", "to", status, fetched::integer, missed::integer, started_at, ended_at, last_error
    from ops.backfill`
const view = openView<Static<typeof Backfill>>(backfills, 'backfill_id', 'backfill')

const requestSchema = (lenders: string[]) => ({
  operationId: 'requestBackfill',
  'x-refusals': ['CONFLICT'],
  summary: 'Fetches what a gateway has for a period, and stores what its webhooks missed',
  params: Type.Object({ gateway: Type.String({ examples: ['gateway_a'] }) }),
  body: titledBody('RequestBackfillRequest', {
    from: Time,
    to: Time,
    lender: optional(oneOf(lenders, 'the code of a lender')),
  }),
  response: { 202: titled('RequestedBackfill', { backfill_id: Type.String() }) },
})
const gatewaysSchema = {
  operationId: 'listGateways',
  summary: 'Lists the gateways’ sources, and up to when their payments have been fetched',
  response: { 200: titled('GatewayList', { gateways: Type.Array(GatewayState) }) },
}
const listSchema = {
  operationId: 'listBackfills',
  summary: 'Lists fetches, newest first',
  querystring: only({ gateway: Type.Optional(oneOf(GATEWAYS)), ...listQuery('backfills', 'uuid') }),
  response: listAnswer('backfills', Backfill, 'BackfillList'),
}
const itemSchema = {
  operationId: 'getBackfill',
  summary: 'Returns a fetch with its counts',
  params: Type.Object({ id: Id }),
  response: { 200: Backfill },
}

type Context = { db: Database; forReads: Database; boss: PgBoss; config: Config }

export function gatewayRoutes(app: App, context: Context): void {
  const { forReads, config } = context
  const schema = requestSchema([...config.lenders.keys()])
  app.get('/gateways', toRead(gatewaysSchema), async () => {
    const { rows } = await sql<object>`
        select lender, gateway, last_event_at, fetched_until, behind_seconds::float8, missed::float8, last_error, is_silent
          from ops.gateway order by gateway, lender nulls first`.execute(forReads)
    return { gateways: rows.map(asJson<Static<typeof GatewayState>>) }
  })

  app.post('/gateways/:gateway/backfill', toOperate(schema), async (request, reply) => {
    const asker = askerOf(request)
    const backfill_id = await requestBackfillNow(
      context,
      request.params.gateway,
      request.body,
      asker,
    )
    return reply.code(202).send({ backfill_id })
  })

  app.get('/gateways/backfills', toRead(listSchema), async ({ query }) => {
    const wanted = equalTo({ gateway: query.gateway })
    return named('backfills', await view.page(forReads, query, wanted))
  })

  app.get('/gateways/backfills/:id', toRead(itemSchema), ({ params }) =>
    view.one(forReads, params.id),
  )
}
