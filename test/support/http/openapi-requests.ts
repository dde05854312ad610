import fc, { type Arbitrary } from 'fast-check'
import { GATEWAYS } from '../../../src/payments/gateways/gateways.ts'
import { kinds } from '../../../src/portfolio/kinds/kinds.ts'
import { anyCharacter, broken, brokenText } from './broken.ts'
import { fitting, type Schema } from './from-schema.ts'
import { inlined } from './inlined.ts'

type Parameter = {
  in: 'path' | 'query' | 'header'
  name: string
  required?: boolean
  schema: Schema
  example?: unknown
}
type Media = { schema?: Schema; example?: unknown; examples?: Record<string, { value: unknown }> }
type Call = {
  operationId: string
  parameters?: Parameter[]
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, Response>
  security?: object[]
}
type Response = { content?: Record<string, object>; 'x-codes'?: string[] }
type OpenApi = { paths: Record<string, Record<string, Call>> }
export type Endpoint = Call & { path: string; method: string }
export type Request = {
  endpoint: Endpoint
  isFitting: boolean
  path: string
  headers: Record<string, string>
  body: Uint8Array | undefined
}

/** The contract's endpoints, with all references replaced by what they name. */
export function endpointsOf(openapi: object): Endpoint[] {
  const { paths }: OpenApi = inlined(openapi)
  return Object.entries(paths).flatMap(([path, calls]) =>
    Object.entries(calls).map(([method, call]) => ({
      ...call,
      path,
      method: method.toUpperCase(),
    })),
  )
}

/** Requests to one endpoint: some valid under its contract, some with an error in one place. */
export function requestsTo(endpoint: Endpoint): Arbitrary<Request> {
  // Both are made once: making what matches a pattern takes longer than drawing from it.
  return fc.oneof(requests(endpoint, false), requests(endpoint, true))
}

function requests(endpoint: Endpoint, isFitting: boolean): Arbitrary<Request> {
  return fc
    .record({
      path: pathOf(endpoint, isFitting),
      headers: headersOf(endpoint, isFitting),
      body: bodyOf(endpoint, isFitting),
    })
    .map(({ path, headers, body }) => ({
      endpoint,
      isFitting,
      path,
      headers: { ...headers, ...(body.type === undefined ? {} : { 'content-type': body.type }) },
      body: body.bytes,
    }))
}

function pathOf({ path, parameters = [] }: Endpoint, isFitting: boolean): Arbitrary<string> {
  const inPath = parameters.filter(parameter => parameter.in === 'path')
  const inQuery = parameters.filter(parameter => parameter.in === 'query')
  return fc
    .tuple(valuesOf(inPath, isFitting, true), valuesOf(inQuery, isFitting, false))
    .map(([params, query]) => {
      // An empty segment, or one of dots, would make another path.
      const filled = path.replace(/\{(\w+)\}/g, (_, name) =>
        encoded(params[name]).replace(/^\.{0,2}$/, '-'),
      )
      const pairs = Object.entries(query).map(
        ([name, value]) => `${encoded(name)}=${encoded(value)}`,
      )
      return pairs.length === 0 ? filled : `${filled}?${pairs.join('&')}`
    })
}

function valuesOf(parameters: Parameter[], isFitting: boolean, isPath: boolean) {
  const members = Object.fromEntries(
    parameters.map(({ name, schema }) => [name, knownOr(name, fitting(schema))]),
  )
  const values = fc.record(members, isPath ? {} : { requiredKeys: [] })
  if (isFitting) return values as Arbitrary<Record<string, unknown>>
  return broken(values).map(bad =>
    typeof bad === 'object' && bad !== null ? { ...bad } : { extra: bad },
  ) as Arbitrary<Record<string, unknown>>
}

/** Random text never matches a record, so some of the values are those of existing records. */
function knownOr(name: string, arbitrary: Arbitrary<unknown>): Arbitrary<unknown> {
  const known: Record<string, string[]> = {
    gateway: GATEWAYS,
    type: kinds.map(({ type }) => type),
    lender: ['LENDER_01', 'LENDER_02', 'UNKNOWN'],
    username: ['asha.rao', 'nobody'],
    id: ['019a0000-0000-7000-8000-000000000000'],
    cursor: ['operations~1', 'callbacks~1'],
    tracking_id: ['LOAN_CREATE|019a0000-0000-7000-8000-000000000000'],
  }
  return known[name] ? fc.oneof(fc.constantFrom(...known[name]), arbitrary) : arbitrary
}

function headersOf({ parameters = [] }: Endpoint, isFitting: boolean) {
  const values = valuesOf(
    parameters.filter(parameter => parameter.in === 'header'),
    isFitting,
    false,
  )
  return values.map(headers =>
    Object.fromEntries(
      Object.entries(headers)
        // Characters that fetch refuses to send are covered by other tests, byte by byte.
        .filter(([name, value]) => /^[\w-]+$/.test(name) && /^[\x20-\x7e]+$/.test(textOf(value)))
        .map(([name, value]) => [
          `x-${name}`.replace('x-idempotency', 'idempotency'),
          textOf(value).trim(),
        ]),
    ),
  )
}

function bodyOf(
  { requestBody }: Endpoint,
  isFitting: boolean,
): Arbitrary<{ type?: string; bytes?: Uint8Array }> {
  const [type, { schema = {} } = {}] = Object.entries(requestBody?.content ?? {})[0] ?? []
  if (type === undefined) return fc.constant({})
  if (type.startsWith('multipart/')) return multipart(isFitting)
  const value = fitting(schema)
  const asText = (values: Arbitrary<unknown>) => values.map(one => JSON.stringify(one) ?? '')
  if (isFitting) return asText(value).map(text => ({ type, bytes: new TextEncoder().encode(text) }))
  const types = fc.constantFrom(
    type,
    type,
    type,
    type,
    'text/plain',
    'application/xml',
    'multipart/form-data',
  )
  const texts = fc.oneof(
    asText(broken(value)).map(text => new TextEncoder().encode(text)),
    brokenText(asText(value)),
  )
  return fc.record({ type: types, bytes: texts })
}

function multipart(isFitting: boolean): Arbitrary<{ type: string; bytes: Uint8Array }> {
  const file = isFitting ? fc.string() : fc.string({ unit: anyCharacter, maxLength: 300 })
  const name = isFitting
    ? fc.constant('type')
    : fc.constantFrom('type', 'file', '__proto__', 'x'.repeat(300))
  return fc
    .record({
      name,
      kind: fc.constantFrom('loans', 'repayments', 'x', ''),
      file,
      boundary: fc.constantFrom('b', 'b', 'c'),
    })
    .map(parts => ({
      type: `multipart/form-data; boundary=${isFitting ? 'b' : parts.boundary}`,
      bytes: new TextEncoder().encode(
        `--b\r\ncontent-disposition: form-data; name="${parts.name}"\r\n\r\n${parts.kind}\r\n--b\r\n` +
          `content-disposition: form-data; name="file"; filename="a.csv"\r\ncontent-type: text/csv\r\n\r\n${parts.file}\r\n--b--\r\n`,
      ),
    }))
}

const encoded = (value: unknown) => encodeURIComponent(textOf(value).toWellFormed())

/** Objects become JSON, because some of the broken ones cannot be converted to a string. */
const textOf = (value: unknown) => String(typeof value === 'object' ? JSON.stringify(value) : value)
