import { STATUS_CODES } from 'node:http'
import { exampleOf, withExamples } from './examples.ts'
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
