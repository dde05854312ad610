import createError from '@fastify/error'
import type { FastifyRequest } from 'fastify'

const AmbiguousHost = createError('INVALID_PAYLOAD', '%s', 400)

/** An onRequest hook: a proxy in front might read another host from such a request than we do. */
export async function refuseAmbiguousHost({ raw, headers }: FastifyRequest): Promise<void> {
  const hosts = raw.rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'host')
  if (hosts.length > 1) throw new AmbiguousHost('The request has more than one Host header')
  const { url = '' } = raw
  if (url.startsWith('/') || url === '*') return
  // In this form, which proxies are sent, the target names the host once more.
  const named = /^https?:\/\/([^/?#]*)/i.exec(url)?.[1]
  if (named === undefined || named.toLowerCase() !== headers.host?.toLowerCase())
    throw new AmbiguousHost('The request names another host than its Host header')
}
