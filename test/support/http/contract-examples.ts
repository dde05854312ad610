import { TOKEN } from '../service.ts'
import type { Endpoint } from './openapi-requests.ts'

/** The examples of the body; one that is undefined if there is none. */
export function examplesOf({ requestBody }: Endpoint): unknown[] {
  const [{ example = undefined, examples = undefined } = {}] = Object.values(
    requestBody?.content ?? {},
  )
  return examples === undefined ? [example] : Object.values(examples).map(({ value }) => value)
}

/** A call with the examples of its parameters and this one of its body. */
export function exampleRequest(endpoint: Endpoint, example: unknown) {
  const { method, parameters = [], requestBody } = endpoint
  let path = endpoint.path
  const query = new URLSearchParams()
  for (const { in: where, name, example } of parameters) {
    if (where === 'path') path = path.replace(`{${name}}`, encodeURIComponent(String(example)))
    if (where === 'query' && example !== undefined) query.set(name, String(example))
  }
  const [type] = Object.keys(requestBody?.content ?? {})
  const init = {
    method,
    headers: {
      'x-internal-token': TOKEN,
      ...(type === 'application/json' ? { 'content-type': type } : {}),
    },
    ...(example === undefined ? {} : { body: bodyOf(type, example as Record<string, string>) }),
  }
  return { path: `${path}?${query}`, init }
}

function bodyOf(type: string | undefined, example: Record<string, string>) {
  if (type === 'application/json') return JSON.stringify(example)
  const form = new FormData()
  for (const [name, value] of Object.entries(example))
    form.set(name, name === 'file' ? new Blob([value]) : value)
  return form
}
