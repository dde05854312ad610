import { type Static, Type } from '@sinclair/typebox'
import { toRead } from '../../accounts/access/needs.ts'
import type { Database } from '../../database/database.ts'
import type { App } from '../../http/app.ts'
import { asJson } from '../../http/as-json.ts'
import { NullableText, nullableText, oneOf, only, titled } from '../../http/fields/schemas.ts'
import { GATEWAYS } from '../gateways/gateways.ts'
import { lastWebhookCalls } from './webhook-call-store.ts'

const Call = titled('WebhookCall', {
  at: Type.String({ format: 'date-time' }),
  address: NullableText,
  status: Type.Integer({ description: 'what was answered' }),
  event_type: NullableText,
  lender: Type.String(),
  reason: nullableText('why it was refused, or is probably not read, and what to correct'),
})
const schema = {
  operationId: 'checkWebhooks',
  summary: 'Lists the last twenty calls of a day to the webhooks, stored or refused',
  description: 'Without bodies. A call appears within about a second.',
  querystring: only({ gateway: Type.Optional(oneOf(GATEWAYS, GATEWAYS.join(' or '))) }),
  response: { 200: titled('WebhookCallList', { calls: Type.Array(Call) }) },
}

export function webhookCheckRoutes(app: App, { forReads }: { forReads: Database }): void {
  app.get('/webhooks/check', toRead(schema), async ({ query: { gateway = null } }) => ({
    calls: (await lastWebhookCalls(forReads, gateway)).map(call =>
      asJson<Static<typeof Call>>(call),
    ),
  }))
}
