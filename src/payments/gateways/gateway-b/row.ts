import { at } from '../items/exact-json.ts'

/** Rows are nested since 2026-01-01, and flat before; an event's type decides what it is. */
export const part = (row: unknown, name: string) => at(row, name) ?? row
export const eventOf = (row: unknown) => part(row, 'event_details')

export const orderPath = (orderId: string) => `/orders/${encodeURIComponent(orderId)}`
