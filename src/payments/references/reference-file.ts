import { type Static, Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { type FileKind, optional, required } from '../../csv/column.ts'
import { damagedIds } from '../../csv/damaged-ids.ts'
import { DAY_RULE, dayOf } from '../../csv/day-cell.ts'
import type { CsvFields } from '../../csv/fields.ts'
import { madeUpValues } from '../../csv/made-up-values.ts'
import type { FileLimit } from '../../http/multipart.ts'
import { closed } from '../../http/schemas.ts'
import { ExternalId } from '../../http/text-fields.ts'
import { columnErrors } from '../../http/validator.ts'
import { GATEWAYS } from '../gateways/gateways.ts'
import { type NewReference, PERIOD_RULE, ReferenceParams } from './reference-record.ts'

/** A file has some two million rows. */
export const REFERENCE_LIMIT: FileLimit = { bytes: 128 * 1024 ** 2, text: '128 MiB' }

export const referenceFile: FileKind = {
  type: 'references',
  columns: [
    required('gateway', 'gateway_a', GATEWAYS.join(' or ')),
    required(
      'kind',
      'virtual_account',
      'virtual_account, mandate, order, payment_link, customer or payer',
    ),
    required('value', 'va_4xbQrmEoA5WJ0G', 'the id as the gateway’s events have it'),
    required('external_loan_id', 'L-5001', 'the loan that payments with this id belong to'),
    optional('valid_from', '2026-02-05', 'the first day; empty if there is none'),
    optional('valid_until', '2026-12-31', 'the last day; empty if there is none'),
  ],
}

const Row = Type.Object({ ...ReferenceParams.properties, external_loan_id: ExternalId }, closed)
const compiled = TypeCompiler.Compile(Row)
const DAYS = ['valid_from', 'valid_until'] as const

/** @returns the reference, and the errors that keep the row from being one */
export function checkRow(fields: CsvFields): { reference: NewReference; errors: string[] } {
  const { valid_from: _, valid_until: __, reason: ___, ...row } = fields
  const errors = [
    ...madeUpValues(fields),
    ...(compiled.Check(row) ? [] : columnErrors(compiled.Errors(row))),
    ...damagedIds(fields, { ids: ['value'], externalIds: ['external_loan_id'] }),
  ]
  const period: Pick<NewReference, 'valid_from' | 'valid_until'> = {}
  for (const name of DAYS) {
    const text = fields[name]
    if (text === undefined) continue
    const day = dayOf(text)
    if (day === undefined) errors.push(`${name} ${DAY_RULE}`)
    else period[name] = day.iso
  }
  const { valid_from: from = '', valid_until: until } = period
  if (until !== undefined && until < from) errors.push(`valid_until ${PERIOD_RULE}`)
  return { reference: { ...(row as Static<typeof Row>), ...period }, errors }
}
