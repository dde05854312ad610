import { type Agent, EnvHttpProxyAgent } from 'undici'
import type { OutboundProxy } from '../../config/proxy.ts'

/** With Node's limit of 16 KiB, an answer full of cookies or of a framework's debug headers would count as none. */
const MAX_HEADER_BYTES = 256 * 1024

/** The agent for calls to servers on the internet: over HTTPS they go through the proxy, over HTTP directly. */
export function openAgent(proxy: OutboundProxy, options: Agent.Options): EnvHttpProxyAgent {
  const maxHeaderSize = MAX_HEADER_BYTES
  return new EnvHttpProxyAgent({ maxHeaderSize, ...options, ...proxy, httpProxy: '' })
}

const CERTIFICATE_TROUBLES: [codes: RegExp, trouble: string][] = [
  [/ALTNAME/, 'the certificate is for another host'],
  [/^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/, 'the certificate is not valid today'],
  [
    /^(DEPTH_ZERO_|SELF_SIGNED_)/,
    'the certificate is signed by an authority that NODE_EXTRA_CA_CERTS must name',
  ],
  [
    /^UNABLE_TO_/,
    'the server does not send the certificate of the authority that signed its own, nor does NODE_EXTRA_CA_CERTS name it',
  ],
]

/** @returns why a call was never sent, if the proxy refused to connect us or TLS could not be agreed */
export function connectionTrouble(error: Error): string | undefined {
  const [, status] = /^Proxy response \((\d{3})\)/.exec(error.message) ?? []
  if (status !== undefined) return `the proxy of HTTPS_PROXY answered ${status}`
  const { code = '', reason } = error as { code?: unknown; reason?: string }
  // OpenSSL's message has places in memory and in its code around its reason.
  if (/^ERR_SSL_/.test(String(code))) return `TLS cannot be agreed: ${reason}`
  return CERTIFICATE_TROUBLES.find(([codes]) => codes.test(String(code)))?.[1]
}
