import type { Unreadable, Window } from '../gateway-api.ts'
import { type Description, itemIfReadable, keyOf } from '../items/read-each.ts'
import { shape } from '../items/shape.ts'

export const describeItemOfA =
  (kind: Unreadable['kind'], window: Window) =>
  (item: unknown): Description => {
    const text = (name: string) => itemIfReadable(() => shape.text(item, name))
    const id = text(kind === 'settlement' ? 'entity_id' : 'id')
    const time = itemIfReadable(() =>
      shape.unixTime(item, kind === 'settlement' ? 'settled_at' : 'created_at'),
    )
    const isPayment = kind === 'payment' || (kind === 'settlement' && text('type') === 'payment')
    return {
      kind,
      id,
      key: `${kind} ${id ?? keyOf(item)}`,
      paymentId: isPayment ? id : text('payment_id'),
      isPayment,
      // The meaning of a payment's status does not hold for a dispute's.
      statusFields: kind === 'dispute' ? {} : { status: text('status') },
      times: time === null ? window : { from: time, to: time },
    }
  }
