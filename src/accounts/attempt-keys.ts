import { hash } from 'node:crypto'
import { isIPv6 } from 'node:net'

/** One customer usually holds a whole /64 of IPv6. */
const IPV6_NETWORK_GROUPS = 4
const IPV6_GROUPS = 8

/** Hashed, because people sometimes type their password into the name field. */
export function nameKey(username: string): string {
  return sha256(username.toLowerCase())
}

/** Begins with the key of the name, by which an administrator unlocks it. */
export function pairKey(username: string, address: string | null): string {
  return `${nameKey(username)}.${sha256(addressKey(address))}`
}

/** For IPv6 the network, because one attacker has all of its addresses. */
export function addressKey(address: string | null): string {
  return address !== null && isIPv6(address) ? networkOf(address) : (address ?? 'unknown')
}

function networkOf(ipv6: string): string {
  const [head = [], tail = []] = ipv6.split('::').map(part => part.split(':').filter(Boolean))
  const zeros = Array<string>(IPV6_GROUPS - head.length - tail.length).fill('0')
  return [...head, ...zeros, ...tail].slice(0, IPV6_NETWORK_GROUPS).join(':')
}

const sha256 = (text: string) => hash('sha256', text)
