import { type TSchema, Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { Value } from '@sinclair/typebox/value'
import type { RouteOptions } from 'fastify'
import { closed } from './fields.ts'
import { type FieldError, FieldErrors } from './problem.ts'

/** Numbers of a query as we document them: neither 1e1 nor true, and none that a double would round. */
const WHOLE_NUMBER = /^\d{1,15}$/
/** Who makes more mistakes than that wants no list of them. */
const MAX_ERRORS = 100

const PARTS: Record<string, string> = { headers: 'header', params: 'path' }

type Part = { schema: unknown; httpPart?: string }

/** Checks a part of a request by its schema. A query's numbers come as text, and its defaults are filled in; a body stays as it is. */
export function validator({ schema: unknownSchema, httpPart }: Part) {
  const schema = unknownSchema as TSchema
  const check = TypeCompiler.Compile(schema)
  const isQuery = httpPart === 'querystring'
  const code = httpPart === 'body' ? 'INVALID_PAYLOAD' : 'INVALID_QUERY'
  return (given: unknown) => {
    const value = isQuery ? Value.Default(schema, withNumbers(schema, given as object)) : given
    if (check.Check(value)) return { value }
    return {
      error: new FieldErrors(code, firstPerPath(check.Errors(value)), PARTS[httpPart ?? '']),
    }
  }
}

const NO_QUERY = Type.Object({}, closed)

/** A route that declares no query takes none: who misspells a filter must not get an answer to another question. */
export function closeQuery(route: RouteOptions): void {
  route.schema = { querystring: NO_QUERY, ...route.schema }
}

/** The first error of each field: what else is wrong with it mostly follows from that one. */
export function firstPerPath(errors: Iterable<FieldError>): FieldError[] {
  const first = new Map<string, FieldError>()
  for (const { path, message } of errors) {
    if (!first.has(path)) first.set(path, { path, message })
    if (first.size === MAX_ERRORS) break
  }
  return [...first.values()]
}

function withNumbers(schema: TSchema, query: object): object {
  return Object.fromEntries(
    Object.entries(query).map(([name, text]) => {
      const isWanted = schema.properties?.[name]?.type === 'integer' && typeof text === 'string'
      return [name, isWanted && WHOLE_NUMBER.test(text) ? Number(text) : text]
    }),
  )
}
