import type { ApiPayment } from '../gateway-api.ts'
import { at, textOf } from '../items/exact-json.ts'

/** Any other status is no reason to post money. */
export const STATUSES: Record<string, ApiPayment['status']> = {
  SUCCESS: 'captured',
  FAILED: 'failed',
  USER_DROPPED: 'failed',
  CANCELLED: 'failed',
  VOID: 'failed',
  PENDING: 'pending',
  NOT_ATTEMPTED: 'pending',
  ACTIVE: 'pending',
  INITIALIZED: 'pending',
}

/**
 * Whether the money was only reserved, released, or collected by somebody else on delivery: it is not captured,
 * whatever the status.
 */
export function isUncollected(payment: unknown): boolean {
  const flag = at(payment, 'is_captured')
  const method = at(payment, 'payment_method')
  const kinds = [textOf(at(payment, 'payment_group')), ...Object.keys(Object(method))]
  return (
    flag === false ||
    at(payment, 'authorization.action') === 'VOID' ||
    ['false', '0'].includes(textOf(flag) ?? '') ||
    kinds.some(kind => kind === 'cod' || kind === 'cash_on_delivery')
  )
}
