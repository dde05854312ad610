import {
  type Fields,
  type Format,
  filled,
  isOfMandate,
  less,
  type ReadRow,
  type Settled,
  unsigned,
} from '../report-format.ts'

/**
 * Razorpay's reports, as in its sample files of payments and of settlements with their parts
 * (razorpay.com/docs/payments/dashboard/reports, "Reports Data Schema" and the sample "Settlement Recon" report). Amounts
 * are in rupees, times in India's time without a zone.
 */
export const gatewayAPayments: Format = {
  title: 'payments of gateway A',
  isIndian: true,
  signature: ['id', 'amount', 'currency', 'status', 'method', 'created_at'],
  ofApi: ['entity'],
  columns: {
    gateway_payment_id: ['id'],
    amount: ['amount'],
    currency: ['currency'],
    status: ['status'],
    captured: ['captured'],
    method: ['method'],
    captured_at: ['created_at'],
    fee: ['fee'],
    tax: ['tax'],
  },
  statusFields: ({ status, captured, method }) => ({
    status: status?.toLowerCase(),
    captured: captured?.toLowerCase(),
    method,
  }),
  read({ captured, status, fee, method, ...fields }, _, known) {
    if (known === 'pending' || isOfMandate(fields.amount)) return { said: null, settled: null }
    // The fee includes the tax, as in the gateway's API. An unknown status is left to the check.
    const said = filled({ ...fields, status: known ?? status, fee: less(fee, fields.tax) })
    return { said, settled: null }
  },
}

export const gatewayASettlements: Format = {
  title: 'settlements of gateway A',
  isIndian: true,
  signature: ['entity_id', 'amount', 'settlement_id', 'settlement_utr'],
  ofApi: ['posted_at', 'credit_type', 'on_hold', 'settled'],
  // The report of all transactions has the API's columns with amounts in rupees.
  ofReport: ['arn', 'upi_flow', 'additional_utr'],
  kindField: 'kind',
  columns: {
    kind: ['transaction_entity', 'type'],
    gateway_payment_id: ['entity_id'],
    amount: ['amount'],
    currency: ['currency'],
    // A payment is dated by its beginning, as in the gateway's webhooks and its API.
    captured_at: ['entity_created_at', 'created_at', 'payment_captured_at'],
    fee: ['fee_exclusive_tax'],
    fee_with_tax: ['fee'],
    tax: ['tax'],
    debit: ['debit'],
    credit: ['credit'],
    settlement_id: ['settlement_id'],
    settled_at: ['settled_at'],
    utr: ['settlement_utr'],
    payment_id: ['payment_id'],
  },
  read: readSettlement,
}

function readSettlement(row: Fields): ReadRow {
  const { debit, credit, fee_with_tax, gateway_payment_id: id, ...fields } = row
  const kind = row.kind?.toLowerCase()
  // The payout itself is no part of it.
  if (kind === 'settlement') return { said: null, settled: null }
  const fee = fields.fee ?? less(fee_with_tax, fields.tax)
  const { captured_at, currency, settlement_id, settled_at, utr, amount, tax } = fields
  const settlement = { settlement_id, settled_at, utr, amount, fee, tax }
  const isStated = debit !== undefined || credit !== undefined
  const settled: Settled = {
    kind: kind === 'payment' || kind === 'refund' ? kind : 'other',
    id,
    payment_id: kind === 'payment' ? undefined : fields.payment_id,
    paid_out: isStated ? less(credit ?? '0', unsigned(debit)) : undefined,
    ...settlement,
    amount: unsigned(amount),
  }
  const said = { gateway_payment_id: id, currency, status: 'captured', captured_at, ...settlement }
  return {
    said: kind === 'payment' && !isOfMandate(amount) ? filled(said) : null,
    settled: settlement_id === undefined ? null : settled,
  }
}
