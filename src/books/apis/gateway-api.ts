/** Both bounds included. */
export type Window = { from: Date; to: Date }

/** As its gateway describes it. Amounts are in major units, as decimal text. */
export type ApiPayment = {
  id: string
  amount: string
  currency: string
  status: 'captured' | 'refunded' | 'failed' | 'pending'
  paidAt: Date
  /** Excluding tax. */
  fee: string | null
  tax: string | null
  /** How much of it was refunded so far; null if the gateway does not say. */
  refunded: string | null
  orderId: string | null
  /** Whether the item itself may name the loan; otherwise its order does. */
  hasTags: boolean
  /** The gateway's item, with every digit. */
  item: unknown
}

export type ApiReversal = {
  kind: 'refund' | 'chargeback'
  id: string
  paymentId: string
  /** done: the money was returned. undone: we keep it. Open refunds are omitted. */
  outcome: 'open' | 'done' | 'undone'
  item: unknown
}

/** `payment`: its payment, only if that was never captured and the refund does not say so itself. */
type ApiRefund = { item: unknown; payment?: unknown }

export type ApiSettlement = {
  kind: 'payment' | 'refund' | 'other'
  id: string
  paymentId: string | null
  settlementId: string
  settledAt: Date | null
  utr: string | null
  amount: string
  fee: string
  tax: string
  /** What it adds to the payout, negative if it reduces it; null if the gateway does not say. */
  paidOut: string | null
}

/** What was fetched about one payment, refund or dispute. */
export type Fetched = {
  kind: 'payment' | 'refund' | 'dispute'
  item: unknown
  order?: unknown
  payment?: unknown
}

/** An item of a list in which something that is needed cannot be read. */
export type Unreadable = {
  kind: 'payment' | 'refund' | 'dispute' | 'settlement'
  item: unknown
  /** For people; without the item's values. */
  reason: string
  /** The same each time the item is listed. */
  key: string
  /** For people. */
  id: string | null
  paymentId: string | null
  /** Whether it may stand for money that came or was returned. */
  mayBeMoney: boolean
  /** Its time, or, if that cannot be read, those that were asked for. */
  times: Window
}

export type ApiPage = {
  payments: ApiPayment[]
  reversals: ApiReversal[]
  unreadable: Unreadable[]
}

export type SettlementPage = Pick<ApiPage, 'unreadable'> & { settlements: ApiSettlement[] }

/** One gateway with one account's credentials. Every call may throw what `gateway-call.ts` lists. */
export type GatewayApi = {
  pages(window: Window): AsyncGenerator<ApiPage>
  payment(id: string, orderId: string | null): Promise<ApiPayment | undefined>
  /** The refunds of a payment, whenever they were made; none where its payments do not say that they were refunded. */
  refundsOf(payment: ApiPayment): Promise<Omit<ApiPage, 'payments'>>
  refund(id: string, paymentId: string, orderId: string | null): Promise<ApiRefund | undefined>
  dispute(id: string, paymentId: string): Promise<unknown>
  order(orderId: string): Promise<unknown>
  settled(window: Window): AsyncGenerator<SettlementPage>
  close(): Promise<void>
}
