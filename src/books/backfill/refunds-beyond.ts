import { sql } from 'kysely'
import type { GatewayAccount } from '../../config/gateway-accounts.ts'
import type { Database } from '../../database/database.ts'
import type { ApiPage, ApiPayment, GatewayApi } from '../../payments/gateways/gateway-api.ts'
import { isRefunded } from '../../payments/gateways/items/shape.ts'
import { type LeftOut, unlessUnsaid } from './fetch.ts'

type Source = { db: Database; api: GatewayApi; account: GatewayAccount }

/**
 * Refunds are listed by their own day. A refund of a later day, stored together with its payment, keeps the payment
 * back before any batch posts it. A gateway that does not say what was refunded is not asked: that would cost a call
 * for each payment.
 */
export async function refundsBeyond(
  source: Source,
  captured: ApiPayment[],
  leftOut: LeftOut,
): Promise<Omit<ApiPage, 'payments'>> {
  const refunds: Omit<ApiPage, 'payments'> = { returns: [], unreadable: [] }
  for (const payment of await withUnknownRefunds(source, captured)) {
    const found = await unlessUnsaid(leftOut, payment.id, source.api.refundsOf(payment))
    refunds.returns.push(...(found?.returns ?? []))
    refunds.unreadable.push(...(found?.unreadable ?? []))
  }
  return refunds
}

/** The same days are fetched every hour, and most refunds are known from their webhooks. */
async function withUnknownRefunds({ db, account }: Source, captured: ApiPayment[]) {
  const byId = new Map(captured.filter(isRefunded).map(payment => [payment.id, payment]))
  if (byId.size === 0) return []
  const amounts = [...byId.values()].map(({ refunded }) => refunded)
  const { rows } = await sql<{ id: string }>`
    select payment_id as id
      from core.with_unknown_refunds(${account.gateway}, ${[...byId.keys()]}::text[],
             ${amounts}::numeric[])`.execute(db)
  return rows.map(({ id }) => byId.get(id) as ApiPayment)
}
