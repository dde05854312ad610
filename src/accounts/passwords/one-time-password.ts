import { randomInt } from 'node:crypto'

/** The alphabet lacks the letters and digits that people take for each other. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789'
/** These groups of letters have about a hundred bits. */
const GROUPS = 4
const GROUP_LETTERS = 5

/** A password that is read out over the telephone, and typed once. */
export function oneTimePassword(): string {
  return Array.from({ length: GROUPS }, group).join('-')
}

const group = (): string =>
  Array.from({ length: GROUP_LETTERS }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
