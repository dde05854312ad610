import type { Unreadable, Window } from '../gateway-api.ts'
import { at } from '../items/exact-json.ts'
import { type Description, itemIfReadable, keyOf } from '../items/read-each.ts'
import { shape } from '../items/shape.ts'
import { eventOf, part } from './row.ts'

export const describeRowOfB =
  (kind: Unreadable['kind'], window: Window) =>
  (row: unknown): Description => {
    const event = eventOf(row)
    const payment = part(row, 'payment_details')
    const text = (value: unknown, name: string) => itemIfReadable(() => shape.text(value, name))
    const time = (value: unknown, name: string) => itemIfReadable(() => shape.isoTime(value, name))
    const paymentId = text(payment, 'cf_payment_id')
    const happenedAt = time(payment, 'payment_time') ?? time(event, 'event_time')
    const isPayment = text(event, 'event_type') === 'PAYMENT'
    return {
      kind,
      id: (kind === 'payment' ? paymentId : null) ?? text(event, 'event_id'),
      key: keyOfRow(row, paymentId),
      paymentId,
      isPayment,
      statusFields: { event_status: text(event, 'event_status') },
      times: happenedAt === null ? window : { from: happenedAt, to: happenedAt },
    }
  }

/**
 * The key is the same in both lists, which may both have the row, with other details. An event's id alone is not
 * unique.
 */
function keyOfRow(row: unknown, paymentId: string | null): string {
  const event = eventOf(row)
  const names = ['event_id', 'event_type', 'event_time', 'event_amount', 'event_settlement_amount']
  const said = names.map(name => at(event, name) ?? null)
  return said[0] === null ? keyOf(row) : keyOf([...said, paymentId])
}
