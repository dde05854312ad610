import { type Agent, EnvHttpProxyAgent } from 'undici'
import type { OutboundProxy } from '../../config/proxy.ts'

/** With Node's limit of 16 KiB, an answer full of cookies or of a framework's debug headers would count as none. */
const MAX_HEADER_BYTES = 256 * 1024

/** The agent for calls to servers on the internet: over HTTPS they go through the proxy, over HTTP directly. */
export function openAgent(proxy: OutboundProxy, options: Agent.Options): EnvHttpProxyAgent {
  const maxHeaderSize = MAX_HEADER_BYTES
  return new EnvHttpProxyAgent({ maxHeaderSize, ...options, ...proxy, httpProxy: '' })
}

/** @returns what the proxy answered instead of connecting us, if the call failed for that */
export function proxyRefusal({ message }: Error): string | undefined {
  const [, status] = /^Proxy response \((\d{3})\)/.exec(message) ?? []
  return status && `the proxy of HTTPS_PROXY answered ${status}`
}
