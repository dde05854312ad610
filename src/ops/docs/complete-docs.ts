import { STATUS_CODES } from 'node:http'
import { nameSchemas, type Schemas } from './name-schemas.ts'
import { type Call, refusalsOf } from './refusals.ts'

type Document = { paths?: object; components?: object }

/** Adds what the routes' schemas lack: tokens, refusals, examples, names, and the calls that we make. */
export function completed<T extends Document>(document: T, webhooks: object) {
  for (const [path, calls] of Object.entries(document.paths ?? {}))
    for (const [method, call] of Object.entries(calls as Record<string, Call>))
      complete(path, method, call)
  const schemas: Schemas = {}
  const paths = nameSchemas(document.paths, schemas)
  const calls = nameSchemas(webhooks, schemas)
  return { ...document, paths, components: { ...document.components, schemas }, webhooks: calls }
}

function complete(path: string, method: string, call: Call): void {
  for (const parameter of call.parameters ?? []) {
    const example = parameter.example ?? exampleOf(parameter.schema)
    if (example !== undefined) parameter.example = example
  }
  for (const media of Object.values(call.requestBody?.content ?? {})) withExamples(media)
  for (const [status, response] of Object.entries(call.responses))
    if (response.description === 'Default Response')
      response.description = STATUS_CODES[status] ?? response.description
  call.security ??= path.startsWith('/api/') ? [{ internalToken: [] }] : []
  if (path.startsWith('/api/')) call.responses = { ...call.responses, ...refusalsOf(method, call) }
  delete call['x-refusals']
  delete call['x-needs']
  delete call['x-acts']
}

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

function withExamples(media: Media): void {
  const { schema, example, examples } = media
  if (schema === undefined || example !== undefined || examples !== undefined) return
  if (schema.anyOf === undefined) media.example = exampleOf(schema)
  else
    media.examples = Object.fromEntries(
      schema.anyOf.map(one => [one.title, { value: exampleOf(one) }]),
    )
}

function exampleOf(schema: Schema): unknown {
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
