import { hash } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { newOperation } from '../../engine/accept.ts'
import { Amount, closed, ExternalId, oneOf, Text } from '../../http/fields.ts'
import { receiptOf } from '../../ledger/repayment.ts'
import { repaymentExternalId } from '../../payments/due-payment.ts'
import { GATEWAYS } from '../../payments/gateways/gateways.ts'
import { DAY_RULE, dayOf } from '../upload/day-text.ts'
import { numberOf } from '../upload/number-text.ts'
import type { CheckedRow, Fields, Kind } from './kind.ts'
import { migratedRepayment } from './migrated-repayment.ts'
import { repaymentColumns } from './repayment-columns.ts'
import { shortenedNumbers } from './shortened-number.ts'

const HASH_DIGITS = 32
const MAX_NOTE_CHARACTERS = 1_000
const MAX_REFERENCE_CHARACTERS = 255

const Row = Type.Object(
  {
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
  },
  closed,
)
const compiled = TypeCompiler.Compile(Row)

/** Repayments on loans that the ledger has, or that an earlier loans file brought there. */
export const repaymentKind: Kind = {
  type: 'repayments',
  columns: repaymentColumns,
  check(fields): CheckedRow {
    const day = dayOf(fields.transaction_date ?? '')
    const errors = [
      ...errorsOf(fields),
      ...shortenedNumbers(fields, ['loan_external_id', 'payment_reference']),
    ]
    if (day === undefined) errors.push(dayError(fields.transaction_date))
    return {
      errors,
      loanExternalId: fields.loan_external_id ?? null,
      clientExternalId: null,
      clientFields: null,
      paymentKey: errors.length === 0 ? paymentKeyOf(fields) : null,
      receiptNumber: errors.length === 0 ? receiptOf(fields.payment_reference as string) : null,
      onDate: day?.iso ?? null,
      disbursedOn: null,
    }
  },
  steps: fields => [newOperation(migratedRepayment, dataOf(fields), null)],
}

const dayError = (text: string | undefined) =>
  `transaction_date ${text === undefined ? 'is required' : DAY_RULE}`

function errorsOf({ transaction_date: _, reason: __, amount, ...texts }: Fields): string[] {
  const row = amount === undefined ? texts : { ...texts, amount: numberOf(amount) }
  if (compiled.Check(row)) return []
  const first = new Map<string, string>()
  for (const { path, message } of compiled.Errors(row)) {
    const column = path.slice(1)
    if (!first.has(column)) first.set(column, `${column} ${message}`)
  }
  return [...first.values()]
}

/** A gateway's payment is one whatever its loan. */
const paymentKeyOf = ({ gateway, payment_reference }: Fields) =>
  gateway === undefined ? null : `${gateway}\n${payment_reference}`

function externalIdOf(fields: Fields): string {
  const { gateway, loan_external_id, payment_reference } = fields
  if (gateway) return repaymentExternalId(gateway, payment_reference as string)
  // No part has a line break in it, so no two are alike.
  const key = `${loan_external_id}\n${payment_reference}`
  return `migration-${hash('sha256', key).slice(0, HASH_DIGITS)}`
}

function dataOf(fields: Fields) {
  const { loan_external_id, transaction_date, amount, payment_reference, note } = fields
  return {
    external_loan_id: loan_external_id as string,
    external_id: externalIdOf(fields),
    date: dayOf(transaction_date as string)?.text as string,
    amount: amount as string,
    reference: payment_reference as string,
    ...(note === undefined ? {} : { note }),
  }
}
