import { isIPv6 } from 'node:net'
import { ipv6Groups } from '../../config/everybody.ts'

/** One customer usually holds a whole /64 of IPv6. */
const IPV6_NETWORK_GROUPS = 4

/** The key of an address: for IPv6 its network, because one attacker has all of its addresses. */
export function addressKey(address: string | null): string {
  return address !== null && isIPv6(address)
    ? ipv6Groups(address).slice(0, IPV6_NETWORK_GROUPS).join(':')
    : (address ?? 'unknown')
}
