import { BlockList, isIP, isIPv6 } from 'node:net'

/**
 * The address alone. A dual-stack socket maps IPv4 addresses to IPv6, some proxies, such as Azure's, add the port to what
 * they forward, and PostgreSQL's inet accepts no interface.
 */
export const plainAddress = (address: string) =>
  address
    .replace(/^(\d+(?:\.\d+){3}):\d+$/, '$1')
    .replace(/^\[(.*)\](?::\d+)?$/s, '$1')
    .replace(/%.*$/s, '')
    .replace(/^::ffff:(?=\d+\.)/i, '')

/** @param networks addresses, or networks in CIDR notation @returns whether an address is in one of them */
export function inNetworks(networks: string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', prefix] = network.split('/')
    if (prefix === undefined) list.addAddress(address, familyOf(address))
    else list.addSubnet(address, Number(prefix), familyOf(address))
  }
  return address => isIP(address) !== 0 && list.check(address, familyOf(address))
}

const familyOf = (address: string) => (isIPv6(address) ? 'ipv6' : 'ipv4')
