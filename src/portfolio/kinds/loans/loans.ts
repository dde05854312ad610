import { DAY, NUMBER } from '../../../csv/column.ts'
import type { CsvFields } from '../../../csv/fields.ts'
import type { Operation } from '../../../engine/operation.ts'
import type { RowKind } from '../kind.ts'
import { checkLoanRow, DAYS } from './check-row.ts'
import { loanColumns } from './columns.ts'
import { lookAtLoans } from './look.ts'
import { loanRules } from './rules.ts'
import { loanSteps } from './steps.ts'

const NUMBERS = [
  'principal',
  'interest_rate_per_period',
  'loan_term_frequency',
  'number_of_repayments',
  'disbursed_amount',
]

export const loans: RowKind = {
  type: 'loans',
  columns: loanColumns,
  ids: ['client_external_id', 'loan_external_id', 'utr_payment_id'],
  patterns: {
    ...Object.fromEntries(DAYS.map(name => [name, DAY])),
    ...Object.fromEntries(NUMBERS.map(name => [name, NUMBER])),
  },
  isHeader: columns => columns.includes('client_external_id'),
  buildsOn: [],
  rules: loanRules,
  reader(catalogue) {
    const steps = loanSteps(name => catalogue.get(name) as Operation)
    return {
      check: fields => checkLoanRow(fields, steps(fields)),
      steps: fields => steps(fields).map(one => one.make(withAmount(fields))),
    }
  },
  look: lookAtLoans,
}

/** The amount is always filled in, so that the disbursement can be compared with the ledger's. */
const withAmount = (fields: CsvFields): CsvFields => ({
  ...fields,
  disbursed_amount: fields.disbursed_amount ?? (fields.principal as string),
})
