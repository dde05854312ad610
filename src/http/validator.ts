import type { TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { Value } from '@sinclair/typebox/value'
import type { FastifyRequest, RouteOptions } from 'fastify'
import { only } from './fields/schemas.ts'
import { takeValues } from './fields/take-values.ts'
import { type FieldError, FieldErrors, MAX_FIELD_ERRORS } from './problem.ts'

/** A whole number as documented: not 1e1 or true, and none that a double would round. */
const WHOLE_NUMBER = /^\d{1,15}$/

const PARTS: Record<string, string> = { headers: 'header', params: 'path' }
const CODES = { body: 'INVALID_PAYLOAD', headers: 'INVALID_HEADER' } as const

type Part = { schema: unknown; httpPart?: string }

const compiled = new WeakMap<TSchema, TypeCheck<TSchema>>()

export function validator({ schema: unknownSchema, httpPart }: Part) {
  const schema = unknownSchema as TSchema
  const check = checkOf(schema)
  const isQuery = httpPart === 'querystring'
  const code = CODES[httpPart as keyof typeof CODES] ?? 'INVALID_QUERY'
  return (given: unknown) => {
    const texts = takeValues(schema, given)
    const value = isQuery ? Value.Default(schema, typed(schema, texts as object)) : texts
    if (check.Check(value)) return { value }
    const errors = firstPerPath(check.Errors(value))
    const fields = isQuery ? errors.map(error => repeatedOr(error, schema, value)) : errors
    return { error: new FieldErrors(code, fields, PARTS[httpPart ?? '']) }
  }
}

/** A parameter that is given twice is a list, each of whose values may be right. */
function repeatedOr(error: FieldError, { properties = {} }: TSchema, query: unknown): FieldError {
  const name = error.path.slice(1)
  const isRepeated =
    Object.hasOwn(properties, name) && Array.isArray((query as Record<string, unknown>)[name])
  return isRepeated ? { ...error, message: 'is given more than once' } : error
}

/** Accepts a body whose schema is only for the contract, such as a union of which the body names one. */
export const bodyIsCheckedLater = (part: Part) =>
  part.httpPart === 'body' ? () => true : validator(part)

/** Most parts of routes share a schema with another's. */
function checkOf(schema: TSchema): TypeCheck<TSchema> {
  const check = compiled.get(schema) ?? TypeCompiler.Compile(schema)
  compiled.set(schema, check)
  return check
}

const NO_QUERY = only({})

/** A route that declares no query accepts none, so that a misspelt filter is refused rather than ignored. */
export function closeQuery(route: RouteOptions): void {
  route.schema = { querystring: NO_QUERY, ...route.schema }
}

/** Refuses what cannot be decoded, which would be taken as it is written: a filter by it would truly find nothing. */
export async function refuseUnreadableQuery({ url, routeOptions }: FastifyRequest) {
  if (!url.includes('%')) return
  const { querystring } = (routeOptions.schema ?? {}) as { querystring?: TSchema }
  const [, query = ''] = url.split(/\?(.*)/s)
  if (querystring?.additionalProperties !== false) return
  const errors = query
    .split('&')
    .filter(isUnreadable)
    .map(parameter => ({ path: `/${parameter.split('=', 1)[0]}`, message: NOT_DECODED }))
  if (errors.length > 0) throw new FieldErrors('INVALID_QUERY', errors.slice(0, MAX_FIELD_ERRORS))
}

const NOT_DECODED = 'must be percent-encoded UTF-8, in which a % is written %25'

function isUnreadable(encoded: string): boolean {
  try {
    decodeURIComponent(encoded)
    return false
  } catch {
    return true
  }
}

/** Refuses what is sent to a call that takes no body, rather than ignore it; an empty object and null count as none. */
export async function refuseUnknownBody({ is404, routeOptions, body }: FastifyRequest) {
  const isElsewhere = is404 || routeOptions.schema?.body !== undefined
  if (isElsewhere || body === undefined || body === null) return
  const isObject = typeof body === 'object' && !Array.isArray(body)
  const errors = isObject
    ? Object.keys(body).map(name => ({ path: `/${name}`, message: 'is not a known field' }))
    : [{ path: '', message: 'must be an empty object, or no body' }]
  if (errors.length > 0) throw new FieldErrors('INVALID_PAYLOAD', errors.slice(0, MAX_FIELD_ERRORS))
}

/** The first error of each field: the others mostly follow from it. */
export function firstPerPath(errors: Iterable<FieldError>): FieldError[] {
  const first = new Map<string, FieldError>()
  for (const { path, message } of errors) {
    if (!first.has(path)) first.set(path, { path, message })
    if (first.size === MAX_FIELD_ERRORS) break
  }
  return [...first.values()]
}

/** The errors of a row of a file, whose columns are its fields. */
export const columnErrors = (errors: Iterable<FieldError>): string[] =>
  firstPerPath(errors).map(({ path, message }) => `${path.slice(1)} ${message}`)

/** The texts of a query in the types of its schema; the check refuses those that stay texts. */
function typed(schema: TSchema, query: object): object {
  return Object.fromEntries(
    Object.entries(query).map(([name, text]) => {
      const { type } = schema.properties?.[name] ?? {}
      if (type === 'boolean' && /^(true|false)$/.test(text)) return [name, text === 'true']
      const isNumber = type === 'integer' && typeof text === 'string' && WHOLE_NUMBER.test(text)
      return [name, isNumber ? Number(text) : text]
    }),
  )
}
