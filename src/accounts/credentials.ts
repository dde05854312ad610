import { Type } from '@sinclair/typebox'
import { PASSWORD_CHARACTERS, USERNAME } from '../config/settings/settings.ts'
import { TAKE, trimText } from '../http/fields/take-values.ts'
import { NOT_NUL, WITHOUT_NUL } from '../http/fields/text-fields.ts'
import { WHY, whyText } from '../http/fields/why.ts'

const { min, max } = PASSWORD_CHARACTERS

export const Username = Type.String({
  [TAKE]: trimText,
  [WHY]: whyText({ max: 100, allowed: /[A-Za-z0-9._@-]/ }),
  pattern: USERNAME,
  description: 'a name of 1 to 100 of A–Z a–z 0–9 . _ @ -, starting with a letter or digit',
  examples: ['asha.rao'],
})

export const NewPassword = Type.String({
  [WHY]: whyText({ min, max, allowed: NOT_NUL }),
  minLength: min,
  maxLength: max,
  pattern: WITHOUT_NUL,
  description: `a text of ${min} to ${max} characters`,
  examples: ['a long pass phrase'],
})

/**
 * A field that checks only what is true of every username or password, so that a refusal reveals nothing about any
 * account.
 */
const attemptedText = (example: string) =>
  Type.String({
    [WHY]: whyText({ max, allowed: NOT_NUL }),
    minLength: 1,
    maxLength: max,
    pattern: WITHOUT_NUL,
    description: `a text of 1 to ${max} characters`,
    examples: [example],
  })
export const AttemptedPassword = attemptedText('a long pass phrase')
/** Keyboards of phones add a blank after a name, and no name has one. */
export const AttemptedUsername = { ...attemptedText('asha.rao'), [TAKE]: trimText }
