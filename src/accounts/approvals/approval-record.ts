import { type TObject, type TProperties, Type } from '@sinclair/typebox'
import { ACTS } from '../../config/acts.ts'
import { NullableText, oneOf, titled } from '../../http/fields/schemas.ts'

export const APPROVAL_STATES = [
  'proposed',
  'approved',
  'rejected',
  'withdrawn',
  'expired',
  'stale',
] as const

const Members = Type.Object({}, { additionalProperties: true })

export const Approval = titled('Approval', {
  approval_id: Type.String(),
  act: oneOf(ACTS),
  subject: Type.String(),
  amount: NullableText,
  currency: NullableText,
  state: oneOf(APPROVAL_STATES),
  proposed_by: Type.String(),
  proposed_at: Type.String(),
  note: NullableText,
  decided_by: NullableText,
  decided_at: NullableText,
  decision_note: NullableText,
  expires_at: Type.String(),
  call: Type.String({ description: 'which call of its act was made, such as reference.delete' }),
  request: { ...Members, description: 'what was asked for' },
  facts: { ...Members, description: 'what it was about when it was proposed' },
})

const { approval_id, act, subject, expires_at } = Approval.properties

/** The answer of every call whose act a second person must approve. */
export const Proposal = Type.Object(
  { approval_id, act, subject, state: Type.Literal('proposed'), expires_at },
  { title: 'Proposal', description: 'Nothing is done yet: somebody else must approve it' },
)

/**
 * The answer of a call that answers 202 itself: its own, or a proposal. All members are optional instead of a union of the
 * two, because no member would tell them apart.
 */
export const orProposal = <P extends TProperties>(own: TObject<P>) =>
  Type.Partial(Type.Composite([own, Proposal]), {
    title: `${own.title}OrProposal`,
    description: 'The answer of the call itself, or the proposal',
  })
