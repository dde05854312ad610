import type { IncomingHttpHeaders } from 'node:http'
import type { Test } from 'tap'
import { serve } from '../http/serve.ts'
import { PAID_AT, PAID_AT_ISO } from '../payments/gateway-events.ts'

type Asked = { path: string; query: URLSearchParams; headers: IncomingHttpHeaders; body: any }

/**
 * Both gateways' APIs, which answer whatever a test wants, and otherwise have nothing.
 * @param answer yields undefined where the test does not care
 */
export async function oddGateway(t: Test, answer: (asked: Asked) => object | undefined) {
  const url = await serve(t, async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString()
    const { pathname: path, searchParams: query } = new URL(request.url ?? '', 'http://gateway')
    const body = text === '' ? null : JSON.parse(text)
    const nothing = /^\/pg\/orders\/[^/]+\/refunds$/.test(path) ? [] : NOTHING
    response.end(JSON.stringify(answer({ path, query, headers: request.headers, body }) ?? nothing))
  })
  return {
    url,
    settings: {
      GATEWAY_A_API_URL: `${url}/v1`,
      GATEWAY_A_API_KEY: 'key',
      GATEWAY_A_API_SECRET: 'secret',
      GATEWAY_B_API_URL: `${url}/pg`,
      GATEWAY_B_API_KEY: 'key',
      GATEWAY_B_API_SECRET: 'secret',
      BACKFILL_CRON: '0 0 1 1 *',
    },
  }
}

/** An empty list of either gateway. */
const NOTHING = { items: [], data: [], cursor: null }

/** Answers gateway A's list of payments. */
export const listOfA =
  (...items: object[]) =>
  ({ path }: Asked) =>
    path === '/v1/payments' ? { items } : undefined

/** Answers gateway B's list of what happened, whose rows name the payment's account of itself. */
export const listOfB =
  (...data: object[]) =>
  ({ path }: Asked) =>
    path === '/pg/recon' ? { data, cursor: null } : undefined

/** Payment 1 in that list, with a refund of 300 under another id than its webhooks have. */
export function refundedListOfB(asked: Asked) {
  const event = { event_type: 'REFUND', event_id: 'event_of_refund', event_amount: 300 }
  const refunded = { ...rowOfB('1', { event }), refund_details: { refund_id: 'refund_of_ours' } }
  return listOfB(rowOfB('1'), refunded)(asked)
}

/** A captured payment of 1,000 in gateway A's list. */
export const itemOfA = (id: string, more: object = {}) => ({
  id,
  entity: 'payment',
  amount: 100_000,
  currency: 'INR',
  status: 'captured',
  captured: true,
  order_id: null,
  notes: { loan_id: 'L-1' },
  created_at: PAID_AT,
  ...more,
})

export const rowOfB = (id: string, { event = {}, payment = {} }: Record<string, object> = {}) => ({
  event_details: {
    event_id: `event_${id}`,
    event_type: 'PAYMENT',
    event_amount: 1_000,
    event_currency: 'INR',
    event_status: 'SUCCESS',
    event_time: PAID_AT_ISO,
    ...event,
  },
  order_details: { order_id: `order_${id}`, order_tags: { loan_id: 'L-1' } },
  payment_details: {
    cf_payment_id: id,
    payment_amount: 1_000,
    payment_currency: 'INR',
    payment_time: PAID_AT_ISO,
    ...payment,
  },
})

/** A part of gateway A's settlement setl_1. */
export const settledOfA = (entity_id: string, type: string, more: object) => ({
  entity_id,
  type,
  debit: 0,
  credit: 0,
  currency: 'INR',
  fee: 0,
  tax: 0,
  settled_at: Date.parse('2026-02-07T12:00:00+05:30') / 1_000,
  settlement_id: 'setl_1',
  settlement_utr: 'UTR1',
  ...more,
})
