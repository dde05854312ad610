import { randomInt } from 'node:crypto'

/** Without the letters and digits that people take for each other. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789'
/** About a hundred bits. */
const GROUPS = 4
const GROUP_LETTERS = 5

/** Read out over the telephone, and typed once. */
export function oneTimePassword(): string {
  return Array.from({ length: GROUPS }, group).join('-')
}

function group(): string {
  return Array.from({ length: GROUP_LETTERS }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
}
