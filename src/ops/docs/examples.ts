type Schema = {
  type?: string | string[]
  title?: string
  anyOf?: Schema[]
  enum?: unknown[]
  const?: unknown
  default?: unknown
  examples?: unknown[]
  items?: Schema
  minItems?: number
  properties?: Record<string, Schema>
  required?: string[]
}
type Media = { schema?: Schema; example?: unknown; examples?: object }

export function withExamples(media: Media): void {
  const { schema, example, examples } = media
  if (schema === undefined || example !== undefined || examples !== undefined) return
  if (schema.anyOf === undefined) media.example = exampleOf(schema)
  else
    media.examples = Object.fromEntries(
      schema.anyOf.map(one => [one.title, { value: exampleOf(one) }]),
    )
}

export function exampleOf(schema: Schema): unknown {
  const { examples = [], enum: [named] = [], properties, required = [] } = schema
  const given = [...examples, schema.const, schema.default, named].find(one => one !== undefined)
  if (given === undefined && schema.items !== undefined && schema.minItems)
    return [exampleOf(schema.items)]
  if (given !== undefined || properties === undefined) return given
  return Object.fromEntries(
    Object.entries(properties)
      .filter(([name, { examples = [] }]) => required.includes(name) || examples.length > 0)
      .map(([name, one]) => [name, exampleOf(one)]),
  )
}
