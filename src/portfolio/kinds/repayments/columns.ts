import { optionalColumn, requiredColumn } from '../../../csv/column.ts'
import { GATEWAYS } from '../../../payments/gateways/gateways.ts'

export const repaymentColumns = [
  requiredColumn('loan_external_id', 'L-5001', 'the loan that was repaid'),
  requiredColumn('transaction_date', '12 February 2024', 'the day of the payment'),
  requiredColumn('amount', '4583.99', 'in rupees with at most two decimals'),
  requiredColumn(
    'payment_reference',
    'pay_29QQoUBi66xm2f',
    'unique per loan in its first 50 characters; if gateway is filled, that gateway’s payment id',
  ),
  optionalColumn(
    'gateway',
    'gateway_a',
    `${GATEWAYS.join(' or ')} if it was paid through one, so that this row and the gateway’s webhook are one repayment; otherwise empty`,
  ),
  optionalColumn('note', 'EMI 1', 'stored with the repayment; at most 1000 characters'),
]
