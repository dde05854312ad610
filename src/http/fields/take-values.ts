import type { TSchema } from '@sinclair/typebox'
import { trimmed } from '../../text/trimmed.ts'

/** A schema's function from the value that was sent to the one that is taken and checked. */
export const TAKE = Symbol('take')
/** Marks an optional member in which an empty text counts as absent, as null does in every optional member. */
export const MAY_BE_EMPTY = Symbol('may be empty')

type Taken = { [TAKE]?: (value: unknown) => unknown; [MAY_BE_EMPTY]?: true }

export function takeValues(schema: TSchema, value: unknown): unknown {
  const { [TAKE]: take } = schema as Taken
  if (take) return take(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value))
    return schema.items ? value.map(item => takeValues(schema.items, item)) : value
  if (schema.anyOf)
    return schema.anyOf.reduce((inner: unknown, one: TSchema) => takeValues(one, inner), value)
  const { properties = {}, required = [] } = schema
  let taken: Record<string, unknown> | undefined
  for (const [name, sent] of Object.entries(value)) {
    const of: TSchema | undefined = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (of === undefined) continue
    const member = takeValues(of, sent)
    const isAbsent = member === null || (member === '' && (of as Taken)[MAY_BE_EMPTY])
    const isDropped = isAbsent && !required.includes(name)
    if (!isDropped && member === sent) continue
    // Most values are taken as they were sent: a copy costs more than all the rest.
    taken ??= { ...value }
    if (isDropped) delete taken[name]
    else taken[name] = member
  }
  return taken ?? value
}

export const trimText = (value: unknown) => (typeof value === 'string' ? trimmed(value) : value)

/** Some databases show a uuid in capitals. */
export const lowerCase = (value: unknown) =>
  typeof value === 'string' ? value.toLowerCase() : value
