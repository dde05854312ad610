import { optional, required } from '../column.ts'

/** One row per loan. One that stops at submitted or approved leaves the later dates empty. */
export const loanColumns = [
  required(
    'client_external_id',
    'C-1001',
    'the client’s external id; the loans of one client share it, and say the same of the client',
  ),
  required('client_firstname', 'Asha', 'the client’s first name, at most 50 characters'),
  required('client_lastname', 'Rao', 'the client’s last name, at most 50 characters'),
  optional(
    'client_mobile_no',
    '+919876543210',
    'the client’s mobile number; no two clients share one',
  ),
  optional('client_email_address', 'asha@example.in', 'the client’s e-mail address'),
  required(
    'client_activation_date',
    '05 January 2024',
    'the day from which the client is one; not after any of its loans was submitted',
  ),
  required('lender', 'LENDER_02', 'the lender’s code'),
  required('loan_external_id', 'L-1001', 'the loan’s external id, once in the file'),
  required('principal', '50000.00', 'the amount applied for, in rupees with at most two decimals'),
  required(
    'interest_rate_per_period',
    '18',
    'in the period of the lender’s product, at most six decimals',
  ),
  required(
    'loan_term_frequency',
    '12',
    'how long the loan runs; a multiple of number_of_repayments',
  ),
  optional(
    'loan_term_frequency_type',
    'months',
    'what loan_term_frequency counts: days, weeks, months (if empty) or years',
  ),
  required('number_of_repayments', '12', 'how many instalments'),
  required('submitted_on_date', '10 January 2024', 'the day of the application'),
  optional(
    'approved_on_date',
    '11 January 2024',
    'the day of the approval; empty where the loan stops at submitted',
  ),
  optional(
    'disbursed_on_date',
    '12 January 2024',
    'the day of the disbursement; empty where the loan stops at approved',
  ),
  optional('disbursed_amount', '50000.00', 'at most the principal, which it is if empty'),
  optional('utr_payment_id', 'UTR2024011212345', 'the reference of the disbursement’s transfer'),
]
