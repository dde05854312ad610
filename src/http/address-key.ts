import { isIPv6 } from 'node:net'

/** One customer usually holds a whole /64 of IPv6. */
const IPV6_NETWORK_GROUPS = 4
const IPV6_GROUPS = 8

/** For IPv6 the network, because one attacker has all of its addresses. */
export function addressKey(address: string | null): string {
  return address !== null && isIPv6(address) ? networkOf(address) : (address ?? 'unknown')
}

function networkOf(ipv6: string): string {
  const [head = [], tail = []] = ipv6.split('::').map(part => part.split(':').filter(Boolean))
  const zeros = Array<string>(IPV6_GROUPS - head.length - tail.length).fill('0')
  return [...head, ...zeros, ...tail].slice(0, IPV6_NETWORK_GROUPS).join(':')
}
