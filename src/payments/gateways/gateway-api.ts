import type { GatewayUnavailable } from './items/gateway-errors.ts'

/** A time span that includes both bounds. */
export type Window = { from: Date; to: Date }

/** The state of a payment's money; one that was refunded was captured before. */
export type PaymentStatus = 'captured' | 'refunded' | 'failed' | 'pending'

/** The fields of an item or a report's row from which the SQL function `base.<gateway>_status` reads its status. */
export type StatusFields = Readonly<Record<string, unknown>>

/** A payment that was asked for by its id: SQL reads its money from the item. */
export type FoundPayment = {
  id: string
  statusFields: StatusFields
  paidAt: Date
  /** How much of the payment was refunded so far; null if the gateway does not say. */
  refunded: string | null
  orderId: string | null
  /** Whether the item itself may name the loan; otherwise its order does. */
  hasTags: boolean
  /** The gateway's item, with every digit. */
  item: unknown
}

/** A payment as its gateway lists it. Amounts are in major units, as decimal text. */
export type ApiPayment = FoundPayment & {
  amount: string
  currency: string
  /** The fee, excluding tax. */
  fee: string | null
  tax: string | null
}

/** A refund or dispute. Whether any money went back is for the SQL function that reads its event. */
export type ApiReturn = { kind: 'refund' | 'dispute'; item: unknown }

/** `payment`: the refund's payment, only if that was never captured and the refund does not say so itself. */
type ApiRefund = { item: unknown; payment?: unknown }

/** A `payout` is what was paid out, as the gateway states it: no part of the settlement, but the sum of them all. */
export type SettledKind = 'payment' | 'refund' | 'other' | 'payout'

/** Named as in core.settlement_row. */
export type ApiSettlement = {
  kind: SettledKind
  id: string
  /** The id under which earlier versions stored the part, or its beginning; null or absent where that was the same. */
  formerly?: string | null
  /** The item is the payout itself, or its balance. Earlier versions stored it as a part; it is not to be saved. */
  is_of_payout?: boolean
  payment_id: string | null
  settlement_id: string
  settled_at: Date | null
  utr: string | null
  amount: string
  fee: string
  tax: string
  /** The amount that the part adds to the payout, negative if it reduces it; null if the gateway does not say. */
  paid_out: string | null
}

/** The items fetched about one payment, refund or dispute. */
export type Fetched = {
  kind: 'payment' | 'refund' | 'dispute'
  item: unknown
  order?: unknown
  transfer?: unknown
  payment?: unknown
}

/** A listed item that cannot be read, because something that is needed of it is missing or malformed. */
export type Unreadable = {
  kind: 'payment' | 'refund' | 'dispute' | 'settlement'
  item: unknown
  /** The reason is for people and has none of the item's values. */
  reason: string
  /** The key is the same each time the item is listed. */
  key: string
  /** The id is for people. */
  id: string | null
  paymentId: string | null
  /** Whether the item, unless its status says otherwise, may stand for money that came or was returned. */
  mayBeMoney: boolean
  statusFields: StatusFields
  /** The item's time or, if that cannot be read, the times that were asked for. */
  times: Window
}

export type ApiPage = {
  payments: ApiPayment[]
  returns: ApiReturn[]
  unreadable: Unreadable[]
  /** Why refunds or disputes of the page are left to a later fetch, if any are. */
  unsaid?: GatewayUnavailable | undefined
  /** What settlements paid out, where that is listed with the payments. */
  payouts?: ApiSettlement[]
}

export type SettlementPage = Pick<ApiPage, 'unreadable'> & { settlements: ApiSettlement[] }

export type GatewayCall = { method: 'GET' | 'POST'; path: string; body?: string }
export type CallGateway = (call: GatewayCall) => Promise<unknown>

/** Reads from one gateway with one account's credentials. Every call may throw what `gateway-call.ts` lists. */
export type GatewayReads = {
  /**
   * The lists of a window, the one with the payments first.
   * @param isLast whether no later window follows, which would list what ended later
   */
  lists(window: Window, isLast?: boolean): AsyncGenerator<ApiPage>[]
  payment(id: string, orderId: string | null): Promise<FoundPayment | undefined>
  /** The refunds of a payment, whenever they were made. Empty for a gateway whose payments do not say that they were refunded. */
  refundsOf(payment: FoundPayment): Promise<Omit<ApiPage, 'payments'>>
  refund(id: string, paymentId: string, orderId: string | null): Promise<ApiRefund | undefined>
  dispute(id: string, paymentId: string): Promise<unknown>
  /** The payment, if it was never captured. Only for a gateway whose refunds do not say so themselves. */
  uncaptured?(paymentId: string): Promise<unknown>
  order(orderId: string): Promise<unknown>
  /** The transfer by which a payment came, where only that names the virtual account. */
  transfer?(payment: FoundPayment): Promise<unknown>
  settled(window: Window): AsyncGenerator<SettlementPage>
}

export type GatewayApi = GatewayReads & { close(): Promise<void> }
