import { Type } from '@sinclair/typebox'
import { nullable, oneOf } from '../../http/fields/schemas.ts'
import { GATEWAYS } from '../../payments/gateways/gateways.ts'

export const GatewayState = Type.Object(
  {
    lender: nullable(
      Type.String({ description: 'null for credentials that serve all lenders without their own' }),
    ),
    gateway: oneOf(GATEWAYS),
    last_event_at: nullable(Type.String({ description: 'of its webhooks' })),
    fetched_until: nullable(Type.String()),
    behind_seconds: nullable(Type.Integer()),
    missed: Type.Integer({
      description: 'captured payments that the gateway had and LoanOps did not',
    }),
    last_error: nullable(
      Type.String({ description: 'of the last fetch; it names the items that could not be read' }),
    ),
    is_silent: Type.Boolean({
      description:
        'nothing comes, although several events came at the same time in each of the last weeks',
    }),
  },
  { title: 'GatewayState' },
)

export const Backfill = Type.Object(
  {
    backfill_id: Type.String(),
    gateway: oneOf(GATEWAYS),
    lender: nullable(Type.String()),
    from: Type.String(),
    to: Type.String(),
    status: oneOf(['running', 'completed', 'failed']),
    fetched: Type.Integer({ description: 'payments that the gateway listed' }),
    missed: Type.Integer({ description: 'of these, captured ones that LoanOps did not have' }),
    started_at: nullable(Type.String()),
    ended_at: nullable(Type.String()),
    last_error: nullable(Type.String()),
  },
  { title: 'Backfill' },
)
