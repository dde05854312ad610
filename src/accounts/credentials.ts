import { Type } from '@sinclair/typebox'
import { PASSWORD_CHARACTERS, USERNAME } from '../config/settings/settings.ts'
import { TAKE, trimText } from '../http/fields/take-values.ts'
import { freeText } from '../http/fields/text-fields.ts'
import { WHY, whyText } from '../http/fields/why.ts'

const { max } = PASSWORD_CHARACTERS

export const Username = Type.String({
  [TAKE]: trimText,
  [WHY]: whyText({ max: 100, allowed: /[A-Za-z0-9._@-]/ }),
  pattern: USERNAME,
  description: 'a name of 1 to 100 of A–Z a–z 0–9 . _ @ -, starting with a letter or digit',
  examples: ['asha.rao'],
})

export const NewPassword = freeText(PASSWORD_CHARACTERS, 'a long pass phrase')

// Attempts are checked only for what is true of every username or password, so that a refusal reveals nothing about any
// account.
export const AttemptedPassword = freeText({ max }, 'a long pass phrase')
/** Keyboards of phones add a blank after a name, and no name has one. */
export const AttemptedUsername = { ...freeText({ max }, 'asha.rao'), [TAKE]: trimText }
