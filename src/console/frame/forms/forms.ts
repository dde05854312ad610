import type { FastifyInstance } from 'fastify'
import { invalidField } from '../../../http/problem.ts'
import { trimmed } from '../../../text/trimmed.ts'

export function readForms(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<string>(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    async (_: unknown, body: string) => fieldsOf(new URLSearchParams(body)),
  )
  app.addHook('preValidation', async request => {
    // What is pasted into a filter often ends with a blank or a tab.
    request.query = filled(mapTexts(request.query as Record<string, unknown>, trimmed))
    if (
      request.body !== null &&
      typeof request.body === 'object' &&
      request.isMultipart?.() !== true
    )
      request.body = filled(request.body as Record<string, unknown>)
  })
}

function fieldsOf(params: URLSearchParams): Record<string, string> {
  const fields = Object.fromEntries(params)
  const isStorable = [...params].every(pair => pair.every(text => !text.includes('\0')))
  if (isStorable) return fields
  throw invalidField('', 'must not contain NUL')
}

function mapTexts(fields: Record<string, unknown>, change: (text: string) => string) {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'string' ? change(value) : value,
    ]),
  )
}

function filled(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''))
}
