import { hash } from 'node:crypto'
import { addressKey } from '../http/address-key.ts'

/** Hashed, because people sometimes type their password into the name field. */
export function nameKey(username: string): string {
  return sha256(username.toLowerCase())
}

/** Begins with the key of the name, by which an administrator unlocks it. */
export function pairKey(username: string, address: string | null): string {
  return `${nameKey(username)}.${sha256(addressKey(address))}`
}

const sha256 = (text: string) => hash('sha256', text)
