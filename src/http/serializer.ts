import fastJsonStringify, { type Schema } from 'fast-json-stringify'

type Serialize = (data: unknown) => string

const compiled = new WeakMap<object, Serialize>()

/**
 * A serializer is compiled once per schema: compiling takes longer than everything else about adding a route, and
 * every second answer's schema is also that of another route.
 */
export function serializer({ schema: unknownSchema }: { schema: unknown }): Serialize {
  const schema = unknownSchema as Schema
  const serialize = compiled.get(schema) ?? fastJsonStringify(schema)
  compiled.set(schema, serialize)
  return serialize
}
