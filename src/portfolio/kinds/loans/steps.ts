import type { CsvFields } from '../../../csv/fields.ts'
import type { Operation } from '../../../engine/operation.ts'
import { type FieldOf, type Step, step } from '../step.ts'

export function loanSteps(operation: (name: string) => Operation): (fields: CsvFields) => Step[] {
  const client = step(operation('CLIENT_CREATE'), clientFields)
  const loan = step(operation('LOAN_CREATE'), loanFields)
  const approve = step(operation('LOAN_APPROVE'), approveFields)
  const disburse = step(operation('LOAN_DISBURSE'), disburseFields)

  return fields => [
    client,
    loan,
    ...(fields.approved_on_date ? [approve] : []),
    ...(fields.disbursed_on_date ? [disburse] : []),
  ]
}

const text = (column: string, field: string): FieldOf => ({ column, field, as: 'text' })
const whole = (column: string, field: string): FieldOf => ({ column, field, as: 'whole' })
const amount = (column: string, field: string): FieldOf => ({ column, field, as: 'amount' })
const rate = (column: string, field: string): FieldOf => ({ column, field, as: 'rate' })
const day = (column: string, field: string): FieldOf => ({ column, field, as: 'day' })

const clientFields = [
  text('client_external_id', 'externalId'),
  text('client_firstname', 'firstname'),
  text('client_lastname', 'lastname'),
  text('client_mobile_no', 'mobileNo'),
  text('client_email_address', 'emailAddress'),
  day('client_activation_date', 'activationDate'),
]
/** They are the same in all rows of a client. */
export const CLIENT_COLUMNS = clientFields.slice(1).map(({ column }) => column)
const loanFields = [
  text('client_external_id', 'clientId'),
  text('lender', 'lenderConfig'),
  text('loan_external_id', 'externalId'),
  amount('principal', 'principal'),
  rate('interest_rate_per_period', 'interestRatePerPeriod'),
  whole('loan_term_frequency', 'loanTermFrequency'),
  text('loan_term_frequency_type', 'loanTermFrequencyType'),
  whole('number_of_repayments', 'numberOfRepayments'),
  day('submitted_on_date', 'submittedOnDate'),
]
const approveFields = [
  text('loan_external_id', 'external_loan_id'),
  day('approved_on_date', 'approvedOnDate'),
]
const disburseFields = [
  text('loan_external_id', 'external_loan_id'),
  day('disbursed_on_date', 'actualDisbursementDate'),
  amount('disbursed_amount', 'transactionAmount'),
  text('utr_payment_id', 'utr_payment_id'),
]
