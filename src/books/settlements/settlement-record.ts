import { Type } from '@sinclair/typebox'
import { NullableText, nullable, nullableText, oneOf, titled } from '../../http/fields/schemas.ts'
import { GATEWAYS } from '../../payments/gateways/gateways.ts'

const money = (description: string) => Type.String({ description })

export const Settlement = titled('Settlement', {
  gateway: oneOf(GATEWAYS),
  settlement_id: Type.String(),
  lender: Type.String(),
  settled_at: NullableText,
  utr: nullableText('the bank’s reference of the payout'),
  payments: Type.Integer(),
  gross: money('of the payments, a decimal with every digit'),
  fees: money('taken off, without tax'),
  tax: money('on the fees'),
  refunds: money('taken off'),
  net: money('gross less fees, tax and refunds'),
  adjustments: money('what is neither a payment nor a refund; negative if it was taken off'),
  paid_out: money('net plus adjustments'),
  off_by: nullable(
    money(
      'by how much the gateway’s own account of its parts, or the payout that it states, is greater; 0 where it adds up, null where a part is not known',
    ),
  ),
  adds_up: nullable(Type.Boolean()),
})
