import { hash } from 'node:crypto'

/** Enough digits to tell a handful of keys apart, and too few to reveal anything about them. */
const KEY_ID_DIGITS = 12

/** The first secret signs; a token's key id says which secret signed it. */
export function tokenKeys(secrets: string[]) {
  const [signing = ''] = secrets
  return { kid: keyId(signing), signing, keys: new Map(secrets.map(one => [keyId(one), one])) }
}

/** The key id is derived from the secret, so that it is the same in every process and after every start. */
const keyId = (secret: string): string =>
  hash('sha256', `key id of ${secret}`).slice(0, KEY_ID_DIGITS)
