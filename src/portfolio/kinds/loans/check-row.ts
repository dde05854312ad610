import { dayOf } from '../day-text.ts'
import type { CheckedRow, Fields } from '../kind.ts'
import { numberOf } from '../number-text.ts'
import { shortenedNumbers } from '../shortened-number.ts'
import type { Step } from '../step.ts'
import { CLIENT_COLUMNS } from './client-columns.ts'

/** Texts, even where they are nothing but digits. */
const CODES = ['client_external_id', 'loan_external_id', 'client_mobile_no', 'utr_payment_id']
const MAX_ID_CHARACTERS = 100
/** Each not before the one above it. */
const DAYS = [
  'client_activation_date',
  'submitted_on_date',
  'approved_on_date',
  'disbursed_on_date',
]

/** @param steps the operations that the row asks for */
export function checkRow(fields: Fields, steps: Step[]): CheckedRow {
  return {
    errors: [
      ...new Set([
        ...steps.flatMap(one => one.check(fields)),
        ...shortenedNumbers(fields, CODES),
        ...incomplete(fields),
        ...outOfOrder(fields),
      ]),
    ],
    loanExternalId: fields.loan_external_id,
    clientExternalId: indexable(fields.client_external_id),
    clientFields: CLIENT_COLUMNS.map(name => sameForm(fields[name])),
    disbursedOn: dayOf(fields.disbursed_on_date ?? '')?.iso,
  }
}

/** A longer one is no external id, and longer than PostgreSQL's index takes. */
const indexable = (id: string | undefined) =>
  id === undefined || id.length > MAX_ID_CHARACTERS ? null : id

/** A day may be written in two ways, and is the same. */
const sameForm = (cell: string | undefined) =>
  cell === undefined ? null : (dayOf(cell)?.iso ?? cell)

function incomplete(fields: Fields): string[] {
  const errors: string[] = []
  if (fields.disbursed_on_date && !fields.approved_on_date)
    errors.push('approved_on_date is required where disbursed_on_date is filled')
  for (const name of ['disbursed_amount', 'utr_payment_id']) {
    if (fields[name] && !fields.disbursed_on_date)
      errors.push(`${name} has no place where disbursed_on_date is empty`)
  }
  const [disbursed, principal] = [fields.disbursed_amount, fields.principal].map(text =>
    numberOf(text ?? ''),
  )
  if (typeof disbursed === 'number' && typeof principal === 'number' && disbursed > principal)
    errors.push('disbursed_amount must not be above principal')
  return errors
}

function outOfOrder(fields: Fields): string[] {
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
