import { Type } from '@sinclair/typebox'
import { ONE_AT_LEAST, text } from './setting-formats.ts'

export const accessSettings = {
  PERSON_REQUIRED: Type.Optional(
    text(
      'the acts that need a person’s account besides the token, comma-separated; unset: those that always need one',
      'payment.post,bulk',
      { format: 'acts', pattern: ONE_AT_LEAST },
    ),
  ),
}
