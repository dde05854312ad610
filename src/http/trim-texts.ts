import type { TSchema } from '@sinclair/typebox'
import { trimmed } from '../database/trimmed.ts'

/** Marks the schema of a text whose ends are trimmed before it is checked. */
export const TRIMMED = Symbol('trimmed')

export function trimTexts(schema: TSchema, value: unknown): unknown {
  if (typeof value === 'string') return TRIMMED in schema ? trimmed(value) : value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value))
    return schema.items ? value.map(item => trimTexts(schema.items, item)) : value
  if (schema.anyOf)
    return schema.anyOf.reduce((inner: unknown, one: TSchema) => trimTexts(one, inner), value)
  const { properties = {} } = schema
  const members = Object.entries(value).map(([name, member]) =>
    Object.hasOwn(properties, name) ? [name, trimTexts(properties[name], member)] : [name, member],
  )
  return Object.fromEntries(members)
}
