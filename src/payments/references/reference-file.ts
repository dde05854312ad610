import { Kind, Type, TypeRegistry } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { type OwnKind, optionalColumn, requiredColumn } from '../../csv/column.ts'
import { damagedIds } from '../../csv/damaged-ids.ts'
import { DAY_RULE, dayOf } from '../../csv/day-cell.ts'
import { madeUpValues } from '../../csv/made-up-values.ts'
import type { UploadRow } from '../../csv/reading/read-upload.ts'
import type { FileLimit } from '../../http/body/multipart.ts'
import { only } from '../../http/fields/schemas.ts'
import { WHY } from '../../http/fields/why.ts'
import { columnErrors } from '../../http/validator.ts'
import { GATEWAYS } from '../gateways/gateways.ts'
import { isEmptyPeriod, NewReference, PERIOD_RULE, REFERENCE_KINDS } from './reference-record.ts'

/** A file has some two million rows. */
export const REFERENCE_LIMIT: FileLimit = { bytes: 128 * 1024 ** 2, text: '128 MiB' }

export const referenceFile: OwnKind = {
  type: 'references',
  ids: ['value', 'external_loan_id'],
  patterns: {},
  ignored: /^created_(by|at_.*)$/,
  columns: [
    requiredColumn('gateway', 'gateway_a', GATEWAYS.join(' or ')),
    requiredColumn('kind', 'virtual_account', `one of ${REFERENCE_KINDS.join(', ')}`),
    requiredColumn('value', 'va_4xbQrmEoA5WJ0G', 'the id as the gateway’s events have it'),
    requiredColumn('external_loan_id', 'L-5001', 'the loan that payments with this id belong to'),
    optionalColumn('valid_from', '2026-02-05', 'the first day; empty if there is none'),
    optionalColumn('valid_until', '2026-12-31', 'the last day; empty if there is none'),
  ],
}

TypeRegistry.Set('DayOfFile', (_, value) => dayOf(String(value)) !== undefined)
const day = Type.Optional(Type.Unsafe<string>({ [Kind]: 'DayOfFile', [WHY]: () => DAY_RULE }))
const Row = TypeCompiler.Compile(
  only({ ...NewReference.properties, valid_from: day, valid_until: day }),
)

/** The place before a year of two digits, as in 31-Dec-28. Days of references may lie ahead, but none before 2000. */
const SHORT_YEAR = /(?<=[a-z][-/\s])(?=\d\d$)/i

export type CheckedReference = ReturnType<typeof checkReferenceRow>

/** @returns the reference, and the errors that keep the row from being one */
export function checkReferenceRow({ line, fields, misfit, rounded }: UploadRow) {
  const { reason: _, ...row } = fields
  for (const name of ['valid_from', 'valid_until']) {
    const day = dayOf((row[name] ?? '').replace(SHORT_YEAR, '20'))
    if (day !== undefined) row[name] = day.iso
  }
  const reference = row as NewReference
  if (misfit !== null) return { line, reference, errors: [misfit] }
  // A made-up or damaged value has the same error twice, as a reference and as a cell.
  const errors = new Set([
    ...(Row.Check(row) ? [] : columnErrors(Row.Errors(row))),
    ...madeUpValues(fields),
    ...damagedIds(fields, { ids: ['value'], externalIds: ['external_loan_id'] }),
    ...rounded,
  ])
  if (errors.size === 0 && isEmptyPeriod(reference)) errors.add(`valid_until ${PERIOD_RULE}`)
  return { line, reference, errors: [...errors] }
}
