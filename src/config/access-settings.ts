import { Type } from '@sinclair/typebox'
import { ONE_AT_LEAST, text } from './setting-formats.ts'

const ONE_YEAR_HOURS = 8_760

export const accessSettings = {
  PERSON_REQUIRED: Type.Optional(
    text(
      'the acts that need a person’s account besides the token, comma-separated; unset: those that always need one',
      'payment.post,bulk',
      { format: 'acts', pattern: ONE_AT_LEAST },
    ),
  ),
  APPROVALS: Type.Optional(
    text(
      'the acts that a second person must approve, comma-separated, each perhaps only above an amount; unset: none',
      'payment.post>50000,payment.dismiss,bulk',
      { format: 'approvals', pattern: ONE_AT_LEAST },
    ),
  ),
  APPROVAL_TTL_HOURS: Type.Number({
    description: 'for how many hours a proposal can be approved',
    default: 24,
    examples: [24],
    minimum: 0.0001,
    maximum: ONE_YEAR_HOURS,
  }),
}
