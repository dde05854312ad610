import { Type } from '@sinclair/typebox'
import { NullableText, nullable, nullableText, oneOf, titled } from '../../http/fields/schemas.ts'
import { GATEWAYS } from '../../payments/gateways/gateways.ts'

export const GatewayState = titled('GatewayState', {
  lender: nullableText('null for credentials that serve all lenders without their own'),
  gateway: oneOf(GATEWAYS),
  last_event_at: nullableText('of its webhooks'),
  fetched_until: NullableText,
  behind_seconds: nullable(Type.Integer()),
  missed: Type.Integer({
    description: 'captured payments that the gateway had and LoanOps did not',
  }),
  last_error: nullableText('of the last fetch; it names the items that could not be read'),
  is_silent: Type.Boolean({
    description:
      'nothing comes, although several events came at the same time in each of the last weeks',
  }),
})

export const Backfill = titled('Backfill', {
  backfill_id: Type.String(),
  gateway: oneOf(GATEWAYS),
  lender: NullableText,
  from: Type.String(),
  to: Type.String(),
  status: oneOf(['running', 'completed', 'failed']),
  fetched: Type.Integer({ description: 'payments that the gateway listed' }),
  missed: Type.Integer({ description: 'of these, captured ones that LoanOps did not have' }),
  started_at: NullableText,
  ended_at: NullableText,
  last_error: NullableText,
})
