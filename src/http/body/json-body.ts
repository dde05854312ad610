import { isUtf8 } from 'node:buffer'
import createError from '@fastify/error'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { FieldErrors, invalidField } from '../problem.ts'
import { breachesOf } from './breaches-of.ts'

/** Reads JSON bodies, and is stricter than Fastify: bytes that two parsers could read differently are refused. */
export function readJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<Buffer>(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      refuseCompressed(request.headers['content-encoding'])
      if (body.length > 0) refuseOtherType(request, 'application/json')
      return parseJsonBody(body)
    },
  )
  // Some clients name the type of a form even where they send nothing.
  app.addContentTypeParser('*', async (request: FastifyRequest) => {
    if (request.headers['content-length'] !== '0') refuseOtherType(request)
  })
}

function refuseOtherType({ routeOptions, is404 }: FastifyRequest, type = ''): void {
  const { consumes = ['application/json'] } = routeOptions.schema ?? {}
  // A request without a route gets 404, whatever its body is.
  if (!is404 && !consumes.includes(type)) throw new OtherType(consumes.join())
}

const OtherType = createError(
  'UNSUPPORTED_MEDIA_TYPE',
  'The body must be sent with content-type: %s',
  415,
)

/** The mark is invisible, so nobody knows that it is there; RFC 8259 lets a reader ignore it. */
const BYTE_ORDER_MARK = /^\ufeff/

/** The body's value, undefined for an empty one: many clients always send a content type. */
export function parseJsonBody(body: Buffer): unknown {
  if (body.length === 0) return undefined
  if (!isUtf8(body)) throw invalidField('', whyNotUtf8(body))
  const text = body.toString().replace(BYTE_ORDER_MARK, '')
  const value = parsed(text)
  const breaches = breachesOf(text)
  if (breaches.length > 0) throw new FieldErrors('INVALID_PAYLOAD', breaches)
  return value
}

const Compressed = createError(
  'UNSUPPORTED_MEDIA_TYPE',
  'The body is compressed (content-encoding: %s), and only uncompressed ones are read',
  415,
)

/** Old clients write a charset here, which does no harm. */
const COMPRESSIONS = /gzip|deflate|br|zstd|compress/i

function refuseCompressed(encoding = ''): void {
  if (COMPRESSIONS.test(encoding)) throw new Compressed(encoding)
}

const GZIP = [0x1f, 0x8b]

function whyNotUtf8(body: Buffer): string {
  if (GZIP.every((byte, at) => body[at] === byte)) return 'is compressed (gzip), not JSON'
  // Bytes that cannot be decoded become one replacement each; the text before the first one is whole characters.
  const [before = ''] = body.toString().split('\ufffd', 1)
  return `is not UTF-8 from byte ${Buffer.byteLength(before) + 1}`
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    // The error has only the position, and no cause, because the message quotes the body.
    const [, position] = /position (\d+)/.exec((error as Error).message) ?? []
    const from = position === undefined ? '' : ` from character ${position}`
    throw invalidField('', `is not JSON${from}`)
  }
}
