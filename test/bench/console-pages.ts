import { sql } from 'kysely'
import type { Database } from '../../src/database/database.ts'

/** Every page, with the filters that are hardest for it: what is rare, what does not exist, and what is deep in the list. */
export async function consolePages(db: Database): Promise<string[]> {
  const { rows } = await sql<{ tracking_id: string; deep: string; payment: string; id: string }>`
    select (select operation_type || '|' || id from loanops.operation where seq = m.seq) as tracking_id, seq / 2 as deep,
           (select gateway || '/' || gateway_payment_id from core.transaction where kind = 'payment' order by id desc limit 1) as payment,
           (select id from loanops.callback order by seq desc limit 1) as id
      from (select max(seq) as seq from loanops.operation) m`.execute(db)
  const { tracking_id = '', deep, payment, id } = rows[0] ?? {}
  const today = new Date().toISOString().slice(0, 10)
  const monthAgo = new Date(Date.now() - 30 * 86_400_000).toISOString().slice(0, 10)
  return [
    '/console',
    ...OPERATIONS.map(query => `/console/operations?${query}`),
    `/console/operations?cursor=operations~${deep}`,
    `/console/operations?status=failed&failed_on=${today}`,
    `/console/operations/${encodeURIComponent(tracking_id)}`,
    ...PAYMENTS.map(query => `/console/payments?${query}`),
    ...OF_DAYS.map(query => `/console/payments?from=${monthAgo}&to=${today}&${query}`),
    '/console/suspense',
    `/console/payments/${payment}`,
    '/console/loans/L-HOT',
    '/console/loans/L-100',
    '/console/clients/L-101',
    `/console/search?q=${encodeURIComponent(tracking_id)}`,
    '/console/search?q=UTR5000000',
    '/console/search?q=nothing-has-this',
    `/console/books?from=${monthAgo}&to=${today}`,
    ...['suspense', 'unchecked', 'missing'].map(
      bucket => `/console/books/payments?day=${today}&bucket=${bucket}`,
    ),
    '/console/bulk?decision=payments.dismiss&note=n',
    '/console/bulk?decision=operations.cancel',
    '/console/portfolio',
    '/console/callbacks',
    '/console/callbacks?state=failed',
    '/console/callbacks?state=delivered',
    '/console/callbacks?subject=loan:L-77',
    '/console/callbacks?type=payment.objected',
    `/console/callbacks?from=${monthAgo}T00:00:00Z&to=${monthAgo}T12:00:00Z`,
    `/console/callbacks/${id}`,
    '/console/batches',
    '/console/readbacks',
    '/console/backfills',
    '/console/sources',
    '/console/audit',
    '/console/audit?actor=user.7',
    '/console/audit?action=payment.note',
    '/console/audit?action=no.such',
    '/console/accounts',
  ]
}

const OPERATIONS = [
  '',
  'status=failed',
  'status=processing',
  'status=success',
  'waiting_for=outcome_unknown',
  'waiting_for=paused',
  'waiting_for=predecessor',
  'operation_type=CLIENT_UPDATE',
  'operation_type=LOAN_DELETE',
  'operation_type=REPAYMENT',
  'operation_type=LOAN_DELETE&status=failed',
  'operation_type=LOAN_CREATE&status=failed',
  'operation_type=CLIENT_UPDATE&status=success',
  'external_id=L-HOT',
  'external_id=L-HOT&status=failed',
  'external_id=L-HOT&operation_type=LOAN_CREATE',
  'origin=migration',
  'origin=migration&operation_type=CLIENT_UPDATE',
  'origin=payment&status=failed',
  'error_code=error.msg.loan.3',
  'error_code=no.such.code',
]

const PAYMENTS = [
  '',
  'state=suspense',
  'state=posted',
  'state=failed',
  'reason=no_loan_named',
  'reason=unreadable',
  'state=suspense&reason=loan_unknown',
  'lender=LENDER_09',
  'lender=LENDER_09&gateway=gateway_a&kind=refund',
  'lender=NOBODY',
  'gateway=gateway_b',
  'kind=refund',
  'kind=chargeback',
  'loan=L-500',
  'objection=refund',
  'objection=chargeback',
]

const OF_DAYS = [
  'state=posted',
  'state=failed',
  'state=suspense',
  'lender=LENDER_09',
  'gateway=gateway_b&state=posted',
]
