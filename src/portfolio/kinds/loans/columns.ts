import { optionalColumn, requiredColumn } from '../../../csv/column.ts'

export const loanColumns = [
  requiredColumn(
    'client_external_id',
    'C-5001',
    'the client’s external id; all loans of a client share it and repeat the same client data',
  ),
  requiredColumn('client_firstname', 'Asha', 'the client’s first name, at most 50 characters'),
  requiredColumn('client_lastname', 'Rao', 'the client’s last name, at most 50 characters'),
  optionalColumn(
    'client_mobile_no',
    '+919876543210',
    'the client’s mobile number; no two clients may share one',
  ),
  optionalColumn('client_email_address', 'asha@example.in', 'the client’s e-mail address'),
  requiredColumn(
    'client_activation_date',
    '05 January 2024',
    'the day on which the client became active; not after the submission of any of its loans',
  ),
  requiredColumn('lender', 'LENDER_02', 'the lender’s code'),
  requiredColumn('loan_external_id', 'L-5001', 'the loan’s external id, unique in the file'),
  requiredColumn(
    'principal',
    '50000.00',
    'the amount applied for, in rupees with at most two decimals',
  ),
  requiredColumn(
    'interest_rate_per_period',
    '18',
    'in percent per period of the lender’s product, with at most six decimals',
  ),
  requiredColumn(
    'loan_term_frequency',
    '12',
    'the term of the loan; a multiple of number_of_repayments',
  ),
  optionalColumn(
    'loan_term_frequency_type',
    'months',
    'the unit of loan_term_frequency: days, weeks, months (if empty) or years',
  ),
  requiredColumn('number_of_repayments', '12', 'the number of instalments'),
  requiredColumn('submitted_on_date', '10 January 2024', 'the day of the application'),
  optionalColumn(
    'approved_on_date',
    '11 January 2024',
    'the day of the approval; empty if the loan is only submitted',
  ),
  optionalColumn(
    'disbursed_on_date',
    '12 January 2024',
    'the day of the disbursement; empty if the loan is only approved',
  ),
  optionalColumn(
    'disbursed_amount',
    '50000.00',
    'at most the principal; if empty, the whole principal',
  ),
  optionalColumn(
    'utr_payment_id',
    'UTR2024011212345',
    'the reference of the bank transfer of the disbursement',
  ),
]
