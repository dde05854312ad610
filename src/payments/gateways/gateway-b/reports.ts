import type { PaymentStatus } from '../gateway-api.ts'
import { isZero } from '../items/shape.ts'
import {
  type Fields,
  type Format,
  filled,
  inIndia,
  isOfMandate,
  type ReadRow,
  unsigned,
} from '../report-format.ts'
import { collectionOf } from './row.ts'
import { isOfPayout, paidOutOf, partKindOf, partOf, signed } from './settled-part.ts'

/**
 * Cashfree's "Settlement Recon" report (cashfree.com/docs/partners/embedded/reports/settlement-recon-reports), and the flat
 * rows of its reconciliation API, which have the same columns under other names
 * (cashfree.com/docs/api-reference/payments, "PG Reconciliation" and "Settlement Reconciliation", version 2023-08-01).
 * Amounts are in rupees, times in India's time without a zone.
 */
export const gatewayBEvents: Format = {
  title: 'payments and settlements of gateway B',
  isIndian: true,
  signature: ['event_id', 'event_type', 'event_amount', 'sale_type'],
  kindField: 'event_type',
  columns: {
    event_id: ['event_id'],
    event_type: ['event_type'],
    sale_type: ['sale_type'],
    event_time: ['event_time'],
    event_amount: ['event_amount'],
    paid_out: ['event_settlement_amount'],
    amount_settled: ['amount_settled'],
    remarks: ['adjustment_remarks'],
    status: ['event_status', 'status'],
    is_captured: ['is_captured'],
    payment_group: ['payment_group'],
    refund_id: ['refund_id'],
    gateway_payment_id: ['cf_payment_id', 'cashfree_reference_id'],
    amount: ['payment_amount', 'transaction_amount'],
    currency: ['event_currency', 'currency'],
    captured_at: ['payment_time', 'transaction_time'],
    fee: ['event_service_charge', 'payment_service_charge', 'transaction_service_charge'],
    tax: ['event_service_tax', 'payment_service_tax', 'txn_st_gst'],
    settlement_id: ['cf_settlement_id'],
    settled_at: ['settlement_date'],
    utr: ['settlement_utr', 'utr'],
  },
  statusFields: row => ({ event_status: row.status?.toUpperCase(), ...collectionOf(row) }),
  errors: directionErrors,
  read: readEvent,
}

/** The first section of that report: one row per settlement, and then the second section's header. */
export const gatewayBSummary: Format = {
  title: 'settlements of gateway B',
  signature: ['id', 'net_settlement_amount', 'utr_no'],
  isSummary: true,
  isIndian: true,
  columns: {
    settlement_id: ['id'],
    utr: ['utr_no'],
    amount_settled: ['net_settlement_amount'],
    settled_at: ['settlement_date'],
    status: ['status', 'settlement_status'],
  },
  read: readPayout,
}

function readPayout({ settlement_id, settled_at, utr, amount_settled, status }: Fields): ReadRow {
  const paid_out = paidOutOf(amount_settled, status)
  if (settlement_id === undefined || paid_out === undefined) return { said: null, settled: null }
  const settlement = { id: settlement_id, settlement_id, settled_at, utr }
  return { said: null, settled: { kind: 'payout', ...settlement, amount: paid_out, paid_out } }
}

function readEvent(
  row: Fields,
  settlements: ReadonlyMap<string, string>,
  known: PaymentStatus | null,
): ReadRow {
  const { event_amount, event_time, captured_at, utr, fee, tax, currency } = row
  const event_type = row.event_type?.toUpperCase() ?? ''
  if (event_type === 'SETTLEMENT') return readPayout(row)
  const kind = partKindOf(event_type)
  const settlement_id = row.settlement_id ?? settlements.get(utr ?? '') ?? utr
  // A report of settlements has no failed payments, whatever it calls the rest. Another word is left to the check.
  const word = settlement_id === undefined ? row.status?.toLowerCase() : undefined
  const status = known ?? word ?? 'captured'
  const amount = row.amount ?? event_amount
  const settlement = { settlement_id, settled_at: row.settled_at, utr, fee, tax }
  const stated = row.paid_out ?? (kind === 'other' ? event_amount : undefined)
  const paid_out = stated === undefined ? undefined : signed(stated, row.sale_type)
  const event = { eventId: row.event_id, type: event_type, at: event_time, paidOut: paid_out }
  const part = partOf(kind, { ...event, refundId: row.refund_id })
  if (isOfPayout(row.remarks))
    return { said: null, settled: null, ofPayout: { kind, id: part.id, settlement_id } }
  const said = filled({
    gateway_payment_id: row.gateway_payment_id,
    amount,
    currency,
    status,
    captured_at: captured_at ?? (event_time && inIndia(event_time)),
    ...settlement,
  })
  return {
    said: kind === 'payment' && status !== 'pending' && !isOfMandate(amount) ? said : null,
    settled:
      settlement_id === undefined || (kind === 'payment' && status !== 'captured')
        ? null
        : {
            kind,
            payment_id: row.gateway_payment_id,
            ...(kind === 'payment' ? { id: row.gateway_payment_id } : part),
            amount: unsigned(event_amount ?? amount),
            paid_out,
            ...settlement,
          },
    isShared: kind === 'other',
  }
}

/** A part without its direction would count as if it had been paid out. */
function directionErrors({ event_type, sale_type = '', event_amount, ...row }: Fields): string[] {
  const kind = event_type?.toUpperCase() ?? ''
  const isPart =
    (row.settlement_id ?? row.utr) !== undefined && !['PAYMENT', 'SETTLEMENT'].includes(kind)
  const stated = row.paid_out ?? event_amount ?? '0'
  if (!isPart || isZero(stated) || stated.startsWith('-') || isOfPayout(row.remarks)) return []
  return /^(credit|debit)$/i.test(sale_type) ? [] : ['sale_type must be CREDIT or DEBIT']
}
