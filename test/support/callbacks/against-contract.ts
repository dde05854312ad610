import { callbackDocs } from '../../../src/callbacks/callback-docs.ts'

type Schema = {
  type?: string | string[]
  enum?: unknown[]
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean
  items?: Schema
}

/** What of a callback is not as /openapi.json describes it: members missing or not named, and values of other types. */
export function againstContract(body: { type: string }): string[] {
  const call = callbackDocs[body.type]
  if (call === undefined) return [`no callback is called ${body.type}`]
  const schema: object = call.post.requestBody.content['application/json'].schema
  return differences(body, schema, body.type)
}

function differences(value: unknown, schema: Schema, where: string): string[] {
  const type = typeOf(value)
  const isAllowed = [schema.type]
    .flat()
    .some(one => one === type || (one === 'number' && type === 'integer'))
  if (!isAllowed) return [`${where} is ${type}, not ${schema.type}`]
  if (schema.enum !== undefined && !schema.enum.includes(value)) return [`${where} is ${value}`]
  if (Array.isArray(value))
    return value.flatMap((one, i) => differences(one, schema.items ?? {}, `${where}[${i}]`))
  return type === 'object' ? ofMembers(value as Record<string, unknown>, schema, where) : []
}

function ofMembers(value: Record<string, unknown>, schema: Schema, where: string): string[] {
  const { properties = {}, required = [], additionalProperties } = schema
  const missing = required
    .filter(name => !(name in value))
    .map(name => `${where}.${name} is missing`)
  const others = Object.entries(value).flatMap(([name, one]) => {
    const member = properties[name]
    if (member !== undefined) return differences(one, member, `${where}.${name}`)
    return additionalProperties === true ? [] : [`${where}.${name} is not described`]
  })
  return [...missing, ...others]
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}
