import { Kind, type Static, Type, TypeRegistry } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { damageOf } from '../../csv/damaged-ids.ts'
import { madeUp, placeholder } from '../../csv/made-up-values.ts'
import { IsoDay } from '../../http/fields/day-fields.ts'
import { nullable, oneOf, only, optional, titled } from '../../http/fields/schemas.ts'
import { ExternalId, IssuedId, whyIssuedId } from '../../http/fields/text-fields.ts'
import { WHY, type Why } from '../../http/fields/why.ts'
import { GATEWAYS } from '../gateways/gateways.ts'

const NAMING = ['virtual_account', 'mandate', 'order', 'payment_link'] as const
const SUGGESTING = ['customer', 'payer'] as const
export const REFERENCE_KINDS = [...NAMING, ...SUGGESTING] as const
export type ReferenceKind = (typeof REFERENCE_KINDS)[number]

const ReferenceValue = IssuedId('va_4xbQrmEoA5WJ0G')

export const ReferenceParams = Type.Object({
  gateway: oneOf(GATEWAYS),
  kind: oneOf(REFERENCE_KINDS),
  value: ReferenceValue,
})
export type ReferenceName = Static<typeof ReferenceParams>

const { gateway, kind } = ReferenceParams.properties
export const ReferenceFilter = Type.Partial(Type.Object({ loan: ExternalId, gateway, kind }))
export type ReferenceFilter = Static<typeof ReferenceFilter>

/** A program may have changed an id on its way here; the payments carry it as it was issued. */
const whyChanged: Why = value => {
  const text = String(value)
  return madeUp(text) ?? placeholder(text) ?? damageOf(text, 'ids', true)
}
const whyNot: Why = value => whyChanged(value) ?? whyIssuedId(value)
TypeRegistry.Set(
  'UnchangedId',
  (_, value) => Value.Check(ReferenceValue, value) && whyChanged(value) === undefined,
)

export const NewReference = only({
  ...ReferenceParams.properties,
  value: Type.Unsafe<string>({ ...ReferenceValue, [Kind]: 'UnchangedId', [WHY]: whyNot }),
  external_loan_id: ExternalId,
  valid_from: optional(IsoDay),
  valid_until: optional(IsoDay),
})
export type NewReference = Static<typeof NewReference>

export const PERIOD_RULE = 'must not be before valid_from'
export const isEmptyPeriod = ({ valid_from = '', valid_until }: NewReference) =>
  valid_until !== undefined && valid_until < valid_from

const day = nullable({ ...IsoDay, description: 'inclusive; null where there is no such end' })

export const Reference = titled('Reference', {
  gateway: Type.String(),
  kind: oneOf(REFERENCE_KINDS),
  value: Type.String(),
  external_loan_id: Type.String(),
  valid_from: day,
  valid_until: day,
  created_by: Type.String(),
  created_at: Type.String(),
})
export type Reference = Static<typeof Reference>
export type Period = Pick<Reference, 'external_loan_id' | 'valid_from' | 'valid_until'>
