import { hash } from 'node:crypto'
import { DAY, NUMBER } from '../../../csv/column.ts'
import { dayOf } from '../../../csv/day-cell.ts'
import type { CsvFields } from '../../../csv/fields.ts'
import { newOperation } from '../../../engine/accept.ts'
import { repaymentExternalId } from '../../../payments/repayment/due-payment.ts'
import type { RowKind } from '../kind.ts'
import { checkRepaymentRow } from './check-row.ts'
import { repaymentColumns } from './columns.ts'
import { lookAtRepayments } from './look.ts'
import {
  MIGRATED_PREFIX,
  type MigratedRepayment,
  migratedIntake,
  migratedRepayment,
} from './migrated-repayment.ts'
import { repaymentRules } from './rules.ts'

const HASH_DIGITS = 32

export const repayments: RowKind = {
  type: 'repayments',
  columns: repaymentColumns,
  ids: ['loan_external_id', 'payment_reference'],
  patterns: { amount: NUMBER, transaction_date: DAY },
  isHeader: columns => columns.includes('payment_reference'),
  buildsOn: ['loans'],
  rules: repaymentRules,
  operations: db => [migratedRepayment(db)],
  reader: () => ({
    check: checkRepaymentRow,
    steps: fields => [newOperation(migratedIntake, dataOf(fields), null)],
  }),
  look: lookAtRepayments,
}

function externalIdOf(fields: CsvFields): string {
  const { gateway, loan_external_id, payment_reference } = fields
  if (gateway) return repaymentExternalId(gateway, payment_reference as string)
  // Neither part can contain a line break, so no two payments share a key.
  const key = `${loan_external_id}\n${payment_reference}`
  return `${MIGRATED_PREFIX}${hash('sha256', key).slice(0, HASH_DIGITS)}`
}

function dataOf(fields: CsvFields): MigratedRepayment {
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
