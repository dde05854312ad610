import fc, { type Arbitrary } from 'fast-check'

export type Schema = {
  type?: string | string[]
  oneOf?: Schema[]
  enum?: unknown[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  pattern?: string
  examples?: unknown[]
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
}

const MAX_CHARACTERS = 300
const LARGEST = 1_000_000

/** Values that are valid under a JSON schema, for the subset that our contract uses. */
export function fitting(schema: Schema): Arbitrary<unknown> {
  if (schema.oneOf) return fc.oneof(...schema.oneOf.map(fitting))
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (Array.isArray(schema.type))
    return fc.oneof(...schema.type.map(type => fitting({ ...schema, type })))
  switch (schema.type) {
    case 'object':
      return record(schema)
    case 'array':
      return fc.array(fitting(schema.items ?? {}), { maxLength: 3 })
    case 'string':
      return text(schema)
    case 'integer':
      return fc.integer({
        min: schema.minimum ?? 0,
        max: Math.min(schema.maximum ?? LARGEST, LARGEST),
      })
    case 'number':
      return fc.oneof(
        ...examples(schema),
        fc.integer({ min: 1, max: LARGEST }).map(n => n / 100),
      )
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    default:
      return fc.jsonValue({ maxDepth: 3 })
  }
}

function record({ properties = {}, required = [] }: Schema): Arbitrary<unknown> {
  const members = Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, fitting(schema)]),
  )
  return fc.record(members, { requiredKeys: required })
}

function text(schema: Schema): Arbitrary<string> {
  const { pattern, minLength = 0, maxLength = MAX_CHARACTERS } = schema
  // A description may say more than the schema, and what matches a pattern may be too short.
  if ((!pattern || minLength > 0) && schema.examples)
    return fc.oneof(...(examples(schema) as Arbitrary<string>[]))
  const made = pattern
    ? fc.stringMatching(new RegExp(pattern)).map(found => found.slice(0, maxLength))
    : fc.string({ minLength, maxLength: Math.min(maxLength, MAX_CHARACTERS), unit: 'grapheme' })
  return fc.oneof(made, ...(examples(schema) as Arbitrary<string>[]))
}

const examples = ({ examples = [] }: Schema) => examples.map(example => fc.constant(example))
