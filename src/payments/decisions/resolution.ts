import {
  Kind,
  type Static,
  type TProperties,
  type TSchema,
  Type,
  TypeRegistry,
} from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import type { Act } from '../../config/acts.ts'
import { DayField } from '../../http/fields/day-fields.ts'
import { Amount, MAX_WHOLE } from '../../http/fields/number-fields.ts'
import { closed, oneOf, optional } from '../../http/fields/schemas.ts'
import { takeValues } from '../../http/fields/take-values.ts'
import { ExternalId, Note } from '../../http/fields/text-fields.ts'
import { FieldErrors } from '../../http/problem.ts'
import { firstPerPath } from '../../http/validator.ts'

const ID_TEXT = /^[1-9][0-9]{0,17}$/
TypeRegistry.Set('TransactionId', (_, value) =>
  typeof value === 'number'
    ? Number.isInteger(value) && value > 0 && value <= MAX_WHOLE
    : typeof value === 'string' && ID_TEXT.test(value),
)
/** The id may be sent as a number too. The contract names one type, because many languages have none that is either. */
const TransactionId = Type.Unsafe<number | string>({
  [Kind]: 'TransactionId',
  type: 'string',
  pattern: ID_TEXT.source,
  description: 'the id of a transaction at the ledger, as a number or as text',
})

const noted = { note: Note }
const OUTCOMES = {
  post: resolution('post', 'PostResolution', 'Posts this amount to this loan as of this day', {
    external_loan_id: ExternalId,
    amount: Amount,
    paid_on: DayField,
    note: Note,
  }),
  handled: resolution('handled', 'HandledResolution', 'The money was booked by hand', {
    note: Note,
    external_loan_id: optional(ExternalId),
    ledger_transaction_id: optional(TransactionId),
  }),
  dismiss: resolution('dismiss', 'DismissResolution', 'Nothing is to be booked', noted),
  reopen: resolution(
    'reopen',
    'ReopenResolution',
    'Takes what was handled or dismissed back to suspense',
    noted,
  ),
  reverse: resolution(
    'reverse',
    'ReverseResolution',
    'Takes a refund or chargeback out of its posted payment at the ledger',
    noted,
  ),
  restore: resolution(
    'restore',
    'RestoreResolution',
    'Posts again what a refund or chargeback took, since the gateway took it back',
    noted,
  ),
}

function resolution<Outcome extends string, Of extends TProperties>(
  outcome: Outcome,
  title: string,
  description: string,
  members: Of,
) {
  return Type.Object(
    { outcome: Type.Literal(outcome), ...members },
    { ...closed, title, description },
  )
}

export const PaymentResolution = Type.Union(Object.values(OUTCOMES), {
  title: 'PaymentResolution',
  discriminator: { propertyName: 'outcome' },
})
export type PaymentResolution = Static<typeof PaymentResolution>
export type FinalResolution = Exclude<
  PaymentResolution,
  { outcome: 'reopen' | 'reverse' | 'restore' }
>

/** The members of a body with this outcome; of an unknown one, only the outcome itself. */
export function membersOf(outcome = ''): string[] {
  const [, schema] = Object.entries(OUTCOMES).find(([name]) => name === outcome) ?? []
  return Object.keys(schema?.properties ?? { outcome })
}

export const RESOLUTION_ACTS = Object.values(OUTCOMES).map(({ properties }) =>
  actOf(properties.outcome.const),
)

/** The act for which an outcome needs permission. */
export function actOf<Outcome extends PaymentResolution['outcome']>(outcome: Outcome) {
  return `payment.${outcome}` as const satisfies Act
}

const NamedOutcome = Type.Object({ outcome: oneOf(Object.keys(OUTCOMES)) })

export function resolutionValidator(): (body: unknown) => PaymentResolution {
  const outcome = TypeCompiler.Compile(NamedOutcome)
  const checks = new Map<string, ReturnType<typeof TypeCompiler.Compile<TSchema>>>(
    Object.entries(OUTCOMES).map(([name, schema]) => [name, TypeCompiler.Compile(schema)]),
  )
  return sent => {
    const body = takeValues(PaymentResolution, sent)
    const check = outcome.Check(body) ? (checks.get(body.outcome) ?? outcome) : outcome
    if (!check.Check(body))
      throw new FieldErrors('INVALID_PAYLOAD', firstPerPath(check.Errors(body)))
    return body as PaymentResolution
  }
}
