import { containerError, type FieldError, fieldError, invalid, Refusal } from '../http/refusal.ts'

export type Body = Record<string, unknown>

const UNREADABLE = 'error.msg.invalid.request.body'

export function readBody(text: string): Body {
  if (text.trim() === '')
    throw bare('The JSON provided in the body of the request is invalid or missing.')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw bare(
      `The JSON syntax provided in the body of the request is invalid: java.io.IOException: ${reason}`,
    )
  }
  if (value === null || Array.isArray(value)) throw containerError(500, 'Not a JSON Object')
  if (typeof value !== 'object' || hasRepeatedKey(text, value)) throw invalidJson()
  return value as Body
}

export function readList(text: string): Body[] {
  const value: unknown = JSON.parse(text)
  if (!Array.isArray(value)) throw containerError(500, 'Not a JSON Array')
  return value
}

export function refuseUnknownKeys(body: Body, allowed: ReadonlySet<string>): void {
  const errors = unknownKeys(body, allowed)
  if (errors.length > 0) throw invalid(errors)
}

export function unknownKeys(body: Body, allowed: ReadonlySet<string>): FieldError[] {
  return Object.keys(body)
    .filter(key => !allowed.has(key))
    .map(key => {
      const message = `The parameter ${key} is not supported.`
      return fieldError('error.msg.parameter.unsupported', key, message, key)
    })
}

/** JSON.parse silently takes the last of two equal keys; Fineract refuses the body. */
function hasRepeatedKey(text: string, value: object): boolean {
  let keys = 0
  for (const match of text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g)) if (match[1]) keys++
  return keys !== countKeys(value)
}

function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const members = Object.values(value)
  let keys = Array.isArray(value) ? 0 : members.length
  for (const member of members) keys += countKeys(member)
  return keys
}

function invalidJson(): Refusal {
  const developer =
    'The request was invalid. This typically will happen due to validation errors which are provided.'
  return new Refusal(400, developer, {
    developerMessage: developer,
    httpStatusCode: '400',
    defaultUserMessage: 'The provided JSON is invalid.',
    userMessageGlobalisationCode: 'error.msg.invalid.json',
    errors: [],
  })
}

function bare(message: string): Refusal {
  return new Refusal(400, message, {
    defaultUserMessage: message,
    parameterName: 'id',
    developerMessage: message,
    userMessageGlobalisationCode: UNREADABLE,
    args: [],
  })
}
