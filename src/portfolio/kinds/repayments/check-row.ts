import { Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { damagedIds } from '../../../csv/damaged-ids.ts'
import { DAY_RULE, dayOf } from '../../../csv/day-cell.ts'
import type { CsvFields } from '../../../csv/fields.ts'
import { numberIn } from '../../../csv/number-cell.ts'
import { Amount } from '../../../http/fields/number-fields.ts'
import { oneOf, only } from '../../../http/fields/schemas.ts'
import { ExternalId, Text } from '../../../http/fields/text-fields.ts'
import { columnErrors } from '../../../http/validator.ts'
import { receiptOf } from '../../../ledger/loans/repayment.ts'
import { foreignId, GATEWAYS } from '../../../payments/gateways/gateways.ts'
import { indexable } from '../indexable.ts'
import type { CheckedRow } from '../kind.ts'

const MAX_NOTE_CHARACTERS = 1_000
const MAX_REFERENCE_CHARACTERS = 255

const Row = only({
  loan_external_id: ExternalId,
  amount: Amount,
  payment_reference: Text(MAX_REFERENCE_CHARACTERS, 'pay_29QQoUBi66xm2f'),
  gateway: Type.Optional(oneOf(GATEWAYS, `${GATEWAYS.join(' or ')}, or empty`)),
  note: Type.Optional(
    Type.String({
      maxLength: MAX_NOTE_CHARACTERS,
      description: `a text of at most ${MAX_NOTE_CHARACTERS} characters`,
    }),
  ),
})
const compiled = TypeCompiler.Compile(Row)
const LOAN = { externalIds: ['loan_external_id'] }
const GATEWAY_ROW = { ...LOAN, paymentIds: ['payment_reference'] }
const LENDER_ROW = { ...LOAN, ownIds: ['payment_reference'] }

export function checkRepaymentRow(fields: CsvFields): CheckedRow {
  const day = dayOf(fields.transaction_date ?? '')
  const errors = [
    ...errorsOf(fields),
    ...damagedIds(fields, fields.gateway === undefined ? LENDER_ROW : GATEWAY_ROW),
  ]
  const foreign = foreignId(fields.gateway ?? '', fields.payment_reference ?? '')
  if (foreign !== undefined) errors.push(`payment_reference ${foreign}`)
  if (day === undefined) errors.push(dayError(fields.transaction_date))
  return {
    errors,
    loanExternalId: indexable(fields.loan_external_id),
    paymentKey: errors.length === 0 ? paymentKeyOf(fields) : null,
    receiptNumber: errors.length === 0 ? receiptOf(fields.payment_reference as string) : null,
    onDate: day?.iso,
  }
}

const dayError = (text: string | undefined) =>
  `transaction_date ${text === undefined ? 'is required' : DAY_RULE}`

function errorsOf({ transaction_date: _, reason: __, amount, ...texts }: CsvFields): string[] {
  const row = amount === undefined ? texts : { ...texts, amount: numberIn(amount, 'amount') }
  if (compiled.Check(row)) return []
  return columnErrors(compiled.Errors(row))
}

/** A gateway's payment id is unique, whichever loan the row names. */
const paymentKeyOf = ({ gateway, payment_reference }: CsvFields) =>
  gateway === undefined ? null : `${gateway}\n${payment_reference}`
