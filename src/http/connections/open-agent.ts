import { type Agent, EnvHttpProxyAgent } from 'undici'
import type { OutboundProxy } from '../../config/proxy.ts'

/** The agent for calls to servers on the internet: over HTTPS they go through the proxy, over HTTP directly. */
export function openAgent(proxy: OutboundProxy, options: Agent.Options): EnvHttpProxyAgent {
  return new EnvHttpProxyAgent({ ...options, ...proxy, httpProxy: '' })
}

/** @returns what the proxy answered instead of connecting us, if the call failed for that */
export function proxyRefusal({ message }: Error): string | undefined {
  const [, status] = /^Proxy response \((\d{3})\)/.exec(message) ?? []
  return status && `the proxy of HTTPS_PROXY answered ${status}`
}
