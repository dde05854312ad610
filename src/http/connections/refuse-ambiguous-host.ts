import createError from '@fastify/error'
import type { FastifyRequest } from 'fastify'

const AmbiguousHost = createError('INVALID_PAYLOAD', '%s', 400)

/** A URL that begins with such a text has another host, or a part of the text is its path. */
const NOT_ONLY_HOST = /[@/\\?#]/

/** An onRequest hook: a proxy in front might read another host from such a request than we do. */
export function refuseAmbiguousHost(
  { raw, headers, protocol, host }: FastifyRequest,
  _: unknown,
  done: (error?: Error) => void,
): void {
  const hosts = raw.rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'host')
  if (hosts.length > 1) done(new AmbiguousHost('The request has more than one Host header'))
  else if (hosts.length === 0 && raw.httpVersion !== '1.0')
    done(new AmbiguousHost('The request has no Host header'))
  else if (namesAnother(raw.url ?? '', headers.host))
    done(new AmbiguousHost('The request names another host than its Host header'))
  // Links back to us are made of the protocol and the host, which a proxy may have forwarded.
  else if (host !== '' && (NOT_ONLY_HOST.test(host) || !URL.canParse(`${protocol}://${host}`)))
    done(new AmbiguousHost('The host of the request cannot be read'))
  else done()
}

/** Whether the target names another host: its form for proxies names the host once more. */
function namesAnother(target: string, host = ''): boolean {
  if (target.startsWith('/') || target === '*') return false
  const [, named] = /^https?:\/\/([^/?#]*)/i.exec(target) ?? []
  return named?.toLowerCase() !== host.toLowerCase()
}
