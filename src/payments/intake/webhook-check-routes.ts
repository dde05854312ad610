import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'
import { toRead } from '../../accounts/access/needs.ts'
import type { Database } from '../../database/database.ts'
import { asJson } from '../../http/as-json.ts'
import { closed, nullable, oneOf } from '../../http/fields/schemas.ts'
import { GATEWAYS } from '../gateways/gateways.ts'
import { lastWebhookCalls } from './webhook-call-store.ts'

const Call = Type.Object(
  {
    at: Type.String({ format: 'date-time' }),
    address: nullable(Type.String()),
    status: Type.Integer({ description: 'what was answered' }),
    event_type: nullable(Type.String()),
    lender: Type.String(),
    reason: nullable(
      Type.String({
        description: 'why it was refused, or is probably not read, and what to correct',
      }),
    ),
  },
  { title: 'WebhookCall' },
)
const schema = {
  operationId: 'checkWebhooks',
  tags: ['webhooks'],
  summary: 'Lists the last twenty calls of a day to the webhooks, stored or refused',
  description: 'Without bodies. A call appears within about a second.',
  querystring: Type.Object(
    { gateway: Type.Optional(oneOf(GATEWAYS, GATEWAYS.join(' or '))) },
    closed,
  ),
  response: { 200: Type.Object({ calls: Type.Array(Call) }, { title: 'WebhookCallList' }) },
}

export function webhookCheckRoutes({
  forReads,
}: {
  forReads: Database
}): FastifyPluginAsyncTypebox {
  return async app => {
    app.get('/webhooks/check', toRead(schema), async ({ query: { gateway = null } }) => ({
      calls: (await lastWebhookCalls(forReads, gateway)).map(call =>
        asJson<Static<typeof Call>>(call),
      ),
    }))
  }
}
