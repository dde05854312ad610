/** Larger networks usually have more than proxies in them. */
const WIDEST_PREFIX = { ipv4: 24, ipv6: 64 }

export function warnOfWideProxies(log: { warn(message: string): void }, trustProxy: string[]) {
  const wide = trustProxy.filter(isWide)
  if (wide.length > 0)
    log.warn(
      `TRUST_PROXY trusts every caller from ${wide.join(', ')}: any of them may claim another address; list the exact addresses of the proxies`,
    )
}

function isWide(network: string): boolean {
  const [address = '', prefix] = network.split('/')
  const widest = address.includes(':') ? WIDEST_PREFIX.ipv6 : WIDEST_PREFIX.ipv4
  return prefix !== undefined && Number(prefix) < widest
}
