import { type Static, Type } from '@sinclair/typebox'
import { IsoDay } from '../../http/day-fields.ts'
import { invalidField } from '../../http/problem.ts'
import { nullable, oneOf } from '../../http/schemas.ts'
import { TAKE, trimText } from '../../http/take-values.ts'
import { GATEWAYS } from '../gateways/gateways.ts'

/** The first four kinds name the loan; the others only suggest it. */
export const REFERENCE_KINDS = [
  'virtual_account',
  'mandate',
  'order',
  'payment_link',
  'customer',
  'payer',
] as const
export type ReferenceKind = (typeof REFERENCE_KINDS)[number]

const ReferenceValue = Type.String({
  [TAKE]: trimText,
  minLength: 1,
  maxLength: 200,
  pattern: '^[^\\u0000-\\u001f\\u007f]+$',
  description: 'a text of 1 to 200 characters, of which none is a control character',
  examples: ['va_4xbQrmEoA5WJ0G'],
})

export const ReferenceParams = Type.Object({
  gateway: oneOf(GATEWAYS),
  kind: oneOf(REFERENCE_KINDS),
  value: ReferenceValue,
})
export type ReferenceName = Static<typeof ReferenceParams>

const day = nullable({ ...IsoDay, description: 'inclusive; null where there is no such end' })

export const Reference = Type.Object(
  {
    gateway: Type.String(),
    kind: oneOf(REFERENCE_KINDS),
    value: Type.String(),
    external_loan_id: Type.String(),
    valid_from: day,
    valid_until: day,
    created_by: Type.String(),
    created_at: Type.String(),
  },
  { title: 'Reference' },
)
export type Reference = Static<typeof Reference>
export type Period = Pick<Reference, 'external_loan_id' | 'valid_from' | 'valid_until'>

export type NewReference = ReferenceName & {
  external_loan_id: string
  /** The first and last day, as `yyyy-MM-dd`. */
  valid_from?: string | undefined
  valid_until?: string | undefined
}

export const PERIOD_RULE = 'must not be before valid_from'

/** @throws FieldErrors */
export function refuseEmptyPeriod({ valid_from, valid_until }: NewReference): void {
  if (valid_from !== undefined && valid_until !== undefined && valid_until < valid_from)
    throw invalidField('/valid_until', PERIOD_RULE)
}
