import { Type } from '@sinclair/typebox'
import { eachOf, ONE_AT_LEAST, text, textIfSet } from './setting-formats.ts'

/** A token without a role may make every call. */
export const TOKEN_ROLES = ['submit', 'read', 'operate'] as const
export type TokenRole = (typeof TOKEN_ROLES)[number]

/** The caller's name, perhaps with a role, before the token. */
export const CALLER = `([a-z][a-z0-9_-]{0,19})(?:/(${TOKEN_ROLES.join('|')}))?:`
/**
 * A text that was meant as a name, for example one with a role that does not exist, is no part of a token: that would be one
 * without a role.
 */
const ALMOST_CALLER = '[^,:/]*/[^,:]*:'
/** The pattern takes the whole name, so that no part of it counts towards its token's length. */
const MAY_BE_NAMED = `(?:${CALLER}|(?!${CALLER}|${ALMOST_CALLER}))`

const ONE_YEAR_HOURS = 8_760

export const accessSettings = {
  INTERNAL_TOKEN: text(
    'the tokens that callers send as X-Internal-Token, comma-separated; a prefix such as los: names the caller, los/submit: also its role (submit, read or operate), and is not sent',
    'los:a-long-random-text',
    { minLength: 16, pattern: eachOf(16, MAY_BE_NAMED), secret: 'tokens' },
  ),
  PERSON_REQUIRED: textIfSet(
    'the acts that need a person’s account besides the token, comma-separated; unset: those that always need one',
    'payment.post,bulk',
    { format: 'acts', pattern: ONE_AT_LEAST },
  ),
  APPROVALS: textIfSet(
    'the acts that a second person must approve, comma-separated, each perhaps only above an amount; unset: none',
    'payment.post>50000,payment.dismiss,bulk',
    { format: 'approvals', pattern: ONE_AT_LEAST },
  ),
  APPROVAL_TTL_HOURS: Type.Number({
    description: 'for how many hours a proposal can be approved',
    default: 24,
    examples: [24],
    minimum: 0.0001,
    maximum: ONE_YEAR_HOURS,
  }),
}
