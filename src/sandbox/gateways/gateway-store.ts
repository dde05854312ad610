type SandboxGateway = 'gateway_a' | 'gateway_b'

/** Amounts are in paise. */
export type GatewayPayment = {
  gateway: SandboxGateway
  id: string
  amount: bigint
  currency: string
  status: 'created' | 'authorized' | 'captured' | 'refunded' | 'failed'
  createdAt: Date
  notes: Record<string, string>
  orderId: string
  orderNotes: Record<string, string>
  fee: bigint
  /** The tax on the fee. */
  tax: bigint
  settlement: { id: string; at: Date; utr: string } | null
  /** The account that can see it; null: all. */
  account: string | null
}

export type GatewayRefund = {
  gateway: SandboxGateway
  id: string
  paymentId: string
  amount: bigint
  status: 'pending' | 'processed' | 'failed'
  createdAt: Date
  /** The settlement that it is deducted from. */
  settlement: GatewayPayment['settlement']
}

export type GatewayDispute = {
  gateway: SandboxGateway
  id: string
  paymentId: string
  amount: bigint
  status: 'open' | 'under_review' | 'won' | 'lost' | 'closed' | 'accepted'
  createdAt: Date
  /** The phase of a dispute at gateway A; chargeback by default. */
  phase?: string
}

/** All but the gateway and the id have defaults. */
type GivenPayment = {
  gateway: SandboxGateway
  id: string
  amount?: string | number
  currency?: string
  status?: GatewayPayment['status']
  created_at?: string
  notes?: Record<string, string>
  order_notes?: Record<string, string>
  fee?: string | number
  tax?: string | number
  settlement?: { id: string; at: string; utr: string } | null
  account?: string | null
}

export type GatewayStore = ReturnType<typeof gatewayStore>

/** Keeps payments, refunds and disputes in the order in which they came. */
export function gatewayStore() {
  const payments = new Map<string, GatewayPayment>()
  const refunds: GatewayRefund[] = []
  const disputes: GatewayDispute[] = []
  const keyOf = (gateway: string, id: string) => `${gateway}/${id}`

  return {
    refunds,
    disputes,
    payment: (gateway: string, id: string) => payments.get(keyOf(gateway, id)),
    payments: (gateway: string) => [...payments.values()].filter(one => one.gateway === gateway),
    /** Adds a payment, or changes the given members of an existing one. */
    put(given: GivenPayment): GatewayPayment {
      const key = keyOf(given.gateway, given.id)
      const payment = changed(payments.get(key) ?? fresh(given), given)
      payments.set(key, payment)
      return payment
    },
  }
}

function fresh({ gateway, id }: GivenPayment): GatewayPayment {
  return {
    gateway,
    id,
    amount: 100_000n,
    currency: 'INR',
    status: 'captured',
    createdAt: new Date(),
    notes: {},
    orderId: `order_${id}`,
    orderNotes: {},
    fee: 0n,
    tax: 0n,
    settlement: null,
    account: null,
  }
}

function changed(payment: GatewayPayment, given: GivenPayment): GatewayPayment {
  return {
    ...payment,
    ...(given.amount === undefined ? {} : { amount: BigInt(given.amount) }),
    ...(given.currency === undefined ? {} : { currency: given.currency }),
    ...(given.status === undefined ? {} : { status: given.status }),
    ...(given.created_at === undefined ? {} : { createdAt: new Date(given.created_at) }),
    ...(given.notes === undefined ? {} : { notes: given.notes }),
    ...(given.order_notes === undefined ? {} : { orderNotes: given.order_notes }),
    ...(given.fee === undefined ? {} : { fee: BigInt(given.fee) }),
    ...(given.tax === undefined ? {} : { tax: BigInt(given.tax) }),
    ...(given.settlement == null
      ? {}
      : { settlement: { ...given.settlement, at: new Date(given.settlement.at) } }),
    ...(given.account === undefined ? {} : { account: given.account }),
  }
}

/** The amount with two decimals, as gateway B writes it. */
export function rupees(paise: bigint): string {
  const text = paise.toString().padStart(3, '0')
  return `${text.slice(0, -2)}.${text.slice(-2)}`
}
