import { type FileKind, optionalColumn, requiredColumn } from '../../csv/column.ts'
import type { FileLimit } from '../../http/body/multipart.ts'

/** A file has about 600,000 rows, whose ids are kept in memory while it is read. */
export const STATEMENT_LIMIT: FileLimit = { bytes: 64 * 1024 ** 2, text: '64 MiB' }

export const statementFile: FileKind = {
  type: 'a statement',
  ids: ['gateway_payment_id', 'event_id', 'settlement_id', 'utr'],
  ignored: /^/,
  columns: [
    requiredColumn('gateway_payment_id', 'pay_29QQoUBi66xm2f', 'the gateway’s id of the payment'),
    requiredColumn('amount', '4583.99', 'in major units with at most two decimals'),
    requiredColumn('currency', 'INR', 'three capital letters'),
    requiredColumn('status', 'captured', 'captured, refunded (captured before) or failed'),
    requiredColumn(
      'captured_at',
      '2026-02-05T10:00:00+05:30',
      'when it was paid; without a zone, in that of the ledger',
    ),
    optionalColumn('fee', '94.50', 'the gateway’s fee without the tax'),
    optionalColumn('tax', '17.01', 'the tax on the fee'),
    optionalColumn(
      'settlement_id',
      'setl_29QQoUBi66xm2f',
      'the settlement in which it was paid out',
    ),
    optionalColumn(
      'settled_at',
      '2026-02-07T12:00:00+05:30',
      'when; without a zone, in that of the ledger',
    ),
    optionalColumn('utr', '500000000001', 'the bank’s reference of the settlement'),
  ],
}
