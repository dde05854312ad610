import type { StatusFields } from '../gateway-api.ts'
import { at, textOf } from '../items/exact-json.ts'
import { flagOf } from '../items/shape.ts'

/** Rows are nested since 2026-01-01, and flat before; an event's type decides what it is. */
export const part = (row: unknown, name: string) => at(row, name) ?? row
export const eventOf = (row: unknown) => part(row, 'event_details')
/** The details are a list since 2026-01-01, in one of the two reconciliations. */
export const refundPart = (row: unknown) => [part(row, 'refund_details')].flat()[0]

/** @param payment an entity, or the payment's part of a row */
export const collectionOf = (payment: unknown): StatusFields => ({
  is_captured: flagOf(at(payment, 'is_captured')),
  payment_group: textOf(at(payment, 'payment_group')),
  payment_method: Object.keys(Object(at(payment, 'payment_method'))),
  authorization: { action: textOf(at(payment, 'authorization.action')) },
})

/** A refund's id without the prefix that it has up to version 2022-09-01, as in base.plain_refund_id. */
export const refundIdOf = (id: string) => id.replace(/^refund_(?=\d{5,}$)/, '')

export const orderPath = (orderId: string) => `/orders/${encodeURIComponent(orderId)}`
