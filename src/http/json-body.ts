import { isUtf8 } from 'node:buffer'
import type { FastifyInstance } from 'fastify'
import { breachesOf } from './json-strictness.ts'
import { FieldErrors, invalidField } from './problem.ts'

/** Stricter than Fastify: whatever two parsers could read differently is refused. */
export function readJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<Buffer>(
    'application/json',
    { parseAs: 'buffer' },
    async (_: unknown, body: Buffer) => parseJsonBody(body),
  )
}

/** Undefined for an empty body: many clients always send a content type. */
export function parseJsonBody(body: Buffer): unknown {
  if (body.length === 0) return undefined
  if (!isUtf8(body)) throw invalidField('', 'is not UTF-8')
  const text = body.toString()
  const value = parsed(text)
  const breaches = breachesOf(text)
  if (breaches.length > 0) throw new FieldErrors('INVALID_PAYLOAD', breaches)
  return value
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    // Only the position, and no cause, because the message quotes the body.
    const [, position] = /position (\d+)/.exec((error as Error).message) ?? []
    const from = position === undefined ? '' : ` from character ${position}`
    throw invalidField('', `is not JSON${from}`)
  }
}
