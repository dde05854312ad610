import createError from '@fastify/error'
import { Type } from '@sinclair/typebox'
import { INTERNAL_TOKEN_ACTOR } from '../accounts/access/actor.ts'
import type { Asker } from '../accounts/audit.ts'
import type { PaymentStanding } from './locked-payment.ts'

const PreconditionFailed = createError(
  'PRECONDITION_FAILED',
  'The payment has changed since you read it: read it again, then decide',
  412,
)
const PreconditionRequired = createError(
  'PRECONDITION_REQUIRED',
  'The payment was posted before: send the ETag that you read it with as If-Match',
  428,
)

export const PRECONDITION_REFUSALS = ['PRECONDITION_FAILED', 'PRECONDITION_REQUIRED']

export const IfMatch = Type.Object({
  'if-match': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1_000,
      description:
        'the ETag of the payment as it was read; required of a person for a payment that was ever posted',
      examples: ['"5d41402abc4b2a76b9719d911017c592"'],
    }),
  ),
})

export const etagOf = (version: string) => `"${version}"`

/**
 * The same decision means something else once the payment has changed, such as a dismissal of an objection to a
 * repayment that was undone since.
 * @param ifMatch an If-Match header
 * @throws PreconditionFailed, PreconditionRequired
 */
export function requireAsSeen(
  { version, wasPosted }: PaymentStanding,
  ifMatch: string | undefined,
  { actor }: Asker,
): void {
  if (ifMatch !== undefined) {
    // A proxy that compresses answers marks their tags, as in W/"…" or "…-gzip".
    if (ifMatch.trim() !== '*' && !ifMatch.includes(version)) throw new PreconditionFailed()
  } else if (wasPosted && actor !== INTERNAL_TOKEN_ACTOR) throw new PreconditionRequired()
}
