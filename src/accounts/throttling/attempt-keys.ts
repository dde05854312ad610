import { hash } from 'node:crypto'
import { addressKey } from '../../http/connections/address-key.ts'

/** The key of a name, hashed, because people sometimes type their password into the name field. */
export function nameKey(username: string): string {
  return sha256(username.toLowerCase())
}

/** The key of a name and an address. It begins with the key of the name, by which an administrator unlocks it. */
export function pairKey(username: string, address: string | null): string {
  return `${nameKey(username)}.${sha256(addressKey(address))}`
}

const sha256 = (text: string) => hash('sha256', text)
