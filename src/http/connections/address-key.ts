import { isIPv6 } from 'node:net'
import { ipv6Groups } from '../../config/everybody.ts'

/** One customer usually holds a whole /64 of IPv6. */
const IPV6_NETWORK_GROUPS = 4

/** Behind a translator between the two protocols (RFC 6052), each address of this network is one IPv4 address. */
const TRANSLATED = '64:ff9b:0:0'

/** The key of an address: for IPv6 its network, because one attacker has all of its addresses. */
export function addressKey(address: string | null): string {
  if (address === null || !isIPv6(address)) return address ?? 'unknown'
  const groups = ipv6Groups(address)
  const network = groups.slice(0, IPV6_NETWORK_GROUPS).join(':')
  return network === TRANSLATED ? groups.join(':') : network
}
