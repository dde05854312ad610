import type { FastifyInstance } from 'fastify'
import { trimText } from '../../../http/fields/take-values.ts'
import { invalidField } from '../../../http/problem.ts'

/** No form has half as many. A refused form is shown with its fields again, and anybody may send one to the login. */
const MAX_FIELDS = 100

export function readForms(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<string>(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    async (_: unknown, body: string) => fieldsOf(new URLSearchParams(body)),
  )
  app.addHook('preValidation', async request => {
    // What is pasted into a filter often ends with a blank or a tab.
    request.query = filled(trimmed(request.query as Record<string, unknown>))
    if (
      request.body !== null &&
      typeof request.body === 'object' &&
      request.isMultipart?.() !== true
    )
      request.body = filled(request.body as Record<string, unknown>)
  })
}

function fieldsOf(params: URLSearchParams): Record<string, string> {
  if (params.size > MAX_FIELDS)
    throw invalidField('', `the form has more than ${MAX_FIELDS} fields`)
  // Browsers send a line break as two characters, and count it as one.
  const lines = [...params].map(([name, text]) => [name, text.replaceAll('\r\n', '\n')])
  const fields = Object.fromEntries(lines)
  const isStorable = [...params].every(pair => pair.every(text => !text.includes('\0')))
  if (isStorable) return fields
  throw invalidField('', 'the form must not contain NUL')
}

const trimmed = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, trimText(value)]))

const filled = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''))
