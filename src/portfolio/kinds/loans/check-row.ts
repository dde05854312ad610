import { damagedIds } from '../../../csv/damaged-ids.ts'
import { dayOf } from '../../../csv/day-cell.ts'
import type { CsvFields } from '../../../csv/fields.ts'
import { numberIn } from '../../../csv/number-cell.ts'
import { indexable } from '../indexable.ts'
import type { CheckedRow } from '../kind.ts'
import type { Step } from '../step.ts'
import { CLIENT_COLUMNS } from './steps.ts'

/** Codes are texts, even if they consist of digits only. */
const CODES = {
  ids: ['utr_payment_id'],
  telephones: ['client_mobile_no'],
  externalIds: ['client_external_id', 'loan_external_id'],
}
/** The days in chronological order; each may equal the one before. */
export const DAYS = [
  'client_activation_date',
  'submitted_on_date',
  'approved_on_date',
  'disbursed_on_date',
]

export function checkLoanRow(fields: CsvFields, steps: Step[]): CheckedRow {
  return {
    errors: [
      ...new Set([
        ...steps.flatMap(one => one.check(fields)),
        ...damagedIds(fields, CODES),
        ...incomplete(fields),
        ...outOfOrder(fields),
      ]),
    ],
    loanExternalId: indexable(fields.loan_external_id),
    clientExternalId: indexable(fields.client_external_id),
    clientFields: CLIENT_COLUMNS.map(name => sameForm(fields[name])),
    disbursedOn: dayOf(fields.disbursed_on_date ?? '')?.iso,
  }
}

/** The same day may be written in either format. */
const sameForm = (cell: string | undefined) =>
  cell === undefined ? null : (dayOf(cell)?.iso ?? cell)

function incomplete(fields: CsvFields): string[] {
  const errors: string[] = []
  if (fields.disbursed_on_date && !fields.approved_on_date)
    errors.push('approved_on_date is required if disbursed_on_date is filled')
  for (const name of ['disbursed_amount', 'utr_payment_id']) {
    if (fields[name] && !fields.disbursed_on_date)
      errors.push(`${name} must be empty if disbursed_on_date is empty`)
  }
  const [disbursed, principal] = [fields.disbursed_amount, fields.principal].map(text =>
    numberIn(text ?? '', 'amount'),
  )
  if (typeof disbursed === 'number' && typeof principal === 'number' && disbursed > principal)
    errors.push('disbursed_amount must not be greater than principal')
  return errors
}

function outOfOrder(fields: CsvFields): string[] {
  const errors: string[] = []
  let before: { name: string; iso: string } | undefined
  for (const name of DAYS) {
    const iso = dayOf(fields[name] ?? '')?.iso
    if (iso === undefined) continue
    if (before && iso < before.iso) errors.push(`${name} must not be before ${before.name}`)
    before = { name, iso }
  }
  return errors
}
