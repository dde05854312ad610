import type { Catalogue, Operation } from '../../engine/operation.ts'
import { dayOf } from '../upload/day-text.ts'
import { numberOf } from '../upload/number-text.ts'
import type { CheckedRow, Fields, Kind } from './kind.ts'
import { loanColumns } from './loan-columns.ts'
import { loanSteps } from './loan-steps.ts'
import { shortenedNumbers } from './shortened-number.ts'

/** In this order in `client_fields`. */
export const CLIENT_COLUMNS = [
  'client_firstname',
  'client_lastname',
  'client_mobile_no',
  'client_email_address',
  'client_activation_date',
]
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

/** Loans with their clients, as far as submitted, approved or disbursed. */
export function loanKind(catalogue: Catalogue): Kind {
  const steps = loanSteps(name => catalogue.get(name) as Operation)

  return {
    type: 'loans',
    columns: loanColumns,
    check: (fields): CheckedRow => ({
      errors: [
        ...new Set([
          ...Object.values(steps(fields)).flatMap(one => one.check(fields)),
          ...shortenedNumbers(fields, CODES),
          ...incomplete(fields),
          ...outOfOrder(fields),
        ]),
      ],
      loanExternalId: fields.loan_external_id ?? null,
      clientExternalId: indexable(fields.client_external_id),
      clientFields: CLIENT_COLUMNS.map(name => sameForm(fields[name])),
      paymentKey: null,
      receiptNumber: null,
      onDate: null,
      disbursedOn: dayOf(fields.disbursed_on_date ?? '')?.iso ?? null,
    }),
    steps: fields => steps(fields).map(one => one.make(withAmount(fields))),
  }
}

/** A longer one is no external id, and longer than PostgreSQL's index takes. */
const indexable = (id: string | undefined) =>
  id === undefined || id.length > MAX_ID_CHARACTERS ? null : id

/** A day may be written in two ways, and is the same. */
const sameForm = (cell: string | undefined) =>
  cell === undefined ? null : (dayOf(cell)?.iso ?? cell)

/** Said outright, so that the disbursement can be held against the ledger's. */
const withAmount = (fields: Fields): Fields => ({
  ...fields,
  disbursed_amount: fields.disbursed_amount ?? (fields.principal as string),
})

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
