import { isIPv4 } from 'node:net'

const BITS = 128
const IPV4_AS_IPV6 = '::ffff:'
/** The internets in bits: IPv4 as IPv6 sees it, and the part of IPv6 from which anybody calls. */
const INTERNETS = [`${'0'.repeat(80)}${'1'.repeat(16)}`, '001']

/** @param networks addresses, or networks in CIDR notation @returns whether they include all of IPv4, or of IPv6 */
export function includeEverybody(networks: string[]): boolean {
  const prefixes = networks.map(bitsOf)
  return INTERNETS.some(range => isHeld(range, prefixes))
}

/** Several small networks may cover a range together. */
function isHeld(range: string, prefixes: string[]): boolean {
  if (prefixes.some(prefix => range.startsWith(prefix))) return true
  const within = prefixes.filter(prefix => prefix.startsWith(range))
  return within.length > 0 && isHeld(`${range}0`, within) && isHeld(`${range}1`, within)
}

function bitsOf(network: string): string {
  const [address = '', prefix] = network.split('/')
  const start = isIPv4(address) ? IPV4_AS_IPV6 : ''
  const bits = ipv6Groups(start + address).map(group =>
    Number.parseInt(group, 16).toString(2).padStart(16, '0'),
  )
  const skipped = start === '' ? 0 : BITS - 32
  return bits.join('').slice(0, prefix === undefined ? BITS : skipped + Number(prefix))
}

/** The eight groups of an address, in hexadecimal. */
export function ipv6Groups(address: string): string[] {
  // A URL writes every spelling of an address in the same way.
  const { hostname } = new URL(`http://[${address.replace(/%.*$/s, '')}]`)
  const [head = [], tail = []] = hostname
    .slice(1, -1)
    .split('::')
    .map(part => part.split(':').filter(Boolean))
  return [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail]
}
