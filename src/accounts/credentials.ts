import { Type } from '@sinclair/typebox'

const SHORTEST_PASSWORD = 12
/** Longer ones only cost time; a pass phrase of thirty words fits. */
const LONGEST_PASSWORD = 256

export const Username = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._@-]{0,99}$',
  description: 'a name of 1 to 100 of A–Z a–z 0–9 . _ @ -, starting with a letter or digit',
  examples: ['asha.rao'],
})

export const NewPassword = Type.String({
  minLength: SHORTEST_PASSWORD,
  maxLength: LONGEST_PASSWORD,
  description: `a text of ${SHORTEST_PASSWORD} to ${LONGEST_PASSWORD} characters`,
  examples: ['a long pass phrase'],
})

/** What somebody tries: only its length is checked, so that a refusal says nothing of any account. */
export const Tried = Type.String({
  minLength: 1,
  maxLength: LONGEST_PASSWORD,
  description: `a text of 1 to ${LONGEST_PASSWORD} characters`,
  examples: ['a long pass phrase'],
})
