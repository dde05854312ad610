import t from 'tap'
import { startWithAccounts } from '../support/accounts/admin.ts'
import { type Endpoint, endpointsOf } from '../support/http/openapi-requests.ts'
import { TOKEN } from '../support/service.ts'

type Schema = {
  type?: string | string[]
  format?: string
  pattern?: string
  maximum?: number
  enum?: unknown[]
  properties?: Record<string, Schema>
  additionalProperties?: unknown
  items?: Schema
  oneOf?: Schema[]
}

const DAYS = {
  exist: ['0001-01-01', '2026-01-31', '2026-04-30', '2024-02-29', '2000-02-29', '9999-12-31'],
  doNot: [
    '0000-01-01',
    '2026-00-10',
    '2026-13-01',
    '2026-04-31',
    '2025-02-29',
    '1900-02-29',
    '0000-02-29',
    '2026-01-32',
    '2026-01-00',
    '2026-1-1',
  ],
}
const CLOCKS = {
  exist: ['T00:00Z', 'T23:59:59Z', 'T10:15:30.123456789+15:59', 'T10:15:30-15:59'],
  doNot: ['', 'T24:00:00Z', 'T10:60:00Z', 'T10:15:60Z', 'T10:15:30', 'T10:15:30+16:00', 't10:15Z'],
}
// No pattern says that an offset must not lead out of the years 0001 to 9999.
const [, day = ''] = DAYS.exist
const [clock = ''] = CLOCKS.exist
const TIMES = {
  exist: [...DAYS.exist.map(one => one + clock), ...CLOCKS.exist.map(one => day + one)],
  doNot: [...DAYS.doNot.map(one => one + clock), ...CLOCKS.doNot.map(one => day + one)],
}

t.test('/openapi.json describes what is accepted, as far as a schema can', async t => {
  const { url, call, admin } = await startWithAccounts(t, { ROLE: 'api', DOCS_ENABLED: 'true' })
  const endpoints = endpointsOf((await call('GET', '/openapi.json')).body)
  const queryOf = (path: string, name: string) =>
    endpoints
      .find(one => one.path === path && one.method === 'GET')
      ?.parameters?.find(one => one.name === name)?.schema as Schema

  for (const [what, path, { exist, doNot }] of [
    ['days', '/api/payments', DAYS],
    ['times', '/api/callbacks', TIMES],
  ] as const)
    t.test(`the pattern of ${what} matches those that are accepted, and no others`, async t => {
      const { pattern = '', format } = queryOf(path, 'from')
      // The format of a time would require its seconds.
      t.not(format, 'date-time')
      for (const [isKnown, values] of [
        [true, exist],
        [false, doNot],
      ] as const)
        for (const value of values) {
          const { status } = await call('GET', `${path}?${new URLSearchParams({ from: value })}`)
          t.same([new RegExp(pattern).test(value), status], [isKnown, isKnown ? 200 : 400], value)
        }
    })

  t.test('/openapi.json allows NUL in no text of a body', async t => {
    for (const { operationId, schema } of bodiesOf(endpoints))
      for (const [where, text] of partsOf(schema, ['string'])) {
        const { pattern, enum: values, format } = text
        if (values !== undefined || format === 'binary') continue
        t.equal(new RegExp(pattern ?? '').test(`${'x'.repeat(20)}\0`), false, operationId + where)
      }
  })

  t.test('no pattern of the contract repeats more often than Go can read', async t => {
    for (const path of ['/openapi.json', '/openapi-3.0.json']) {
      const text = JSON.stringify((await call('GET', path)).body)
      const repeats = [...text.matchAll(/"pattern":"(.*?)"/g)].flatMap(([, pattern = '']) =>
        [...pattern.matchAll(/\{\d*,?(\d+)\}/g)].map(([, most]) => Number(most)),
      )
      t.ok(repeats.length > 20)
      t.ok(Math.max(...repeats) <= 1000, path)
    }
  })

  t.test('/openapi.json allows no number of more than fifteen digits in a body', async t => {
    for (const { operationId, schema } of bodiesOf(endpoints))
      for (const [where, { maximum }] of partsOf(schema, ['integer', 'number']))
        t.ok(Number(maximum) < 10 ** 15, operationId + where)
  })

  t.test('/openapi.json has no multipleOf, by which validators refuse valid amounts', async t => {
    for (const { operationId, schema } of bodiesOf(endpoints))
      for (const [where, number] of partsOf(schema, ['integer', 'number']))
        t.notOk('multipleOf' in number, operationId + where)
  })

  t.test('/openapi.json allows a body only the members described, except a gateway’s', async t => {
    for (const { operationId, path, schema } of bodiesOf(endpoints))
      if (!path.includes('/webhooks/'))
        for (const one of schema.oneOf ?? [schema])
          t.equal(one.additionalProperties, false, operationId)
  })

  t.test('a path that no record can have is answered as /openapi.json says', async t => {
    const withParameters = endpoints.filter(({ path }) => path.includes('{'))
    t.ok(withParameters.length > 20)
    for (const name of ['x'.repeat(600), '%ff', '%00'])
      for (const { method, path, operationId, responses } of withParameters) {
        const response = await fetch(url + path.replaceAll(/\{\w+\}/g, name), {
          method,
          headers: { 'x-internal-token': TOKEN, ...admin },
        })
        const { code } = (await response.json()) as { code: string }
        const codes = responses[response.status]?.['x-codes']
        t.ok(
          codes?.includes(code),
          `${operationId} ${name.slice(0, 3)}: ${response.status} ${code}`,
        )
      }
  })
})

function bodiesOf(endpoints: Endpoint[]) {
  return endpoints.flatMap(({ operationId, path, requestBody }) =>
    Object.values(requestBody?.content ?? {}).map(({ schema }) => ({
      operationId,
      path,
      schema: schema as Schema,
    })),
  )
}

function partsOf(schema: Schema, types: string[], where = ''): [string, Schema][] {
  const { type, properties = {}, items, oneOf = [] } = schema
  const isOne = [type ?? []].flat().some(one => types.includes(one))
  return [
    ...(isOne ? ([[where, schema]] as [string, Schema][]) : []),
    ...Object.entries(properties).flatMap(([name, one]) => partsOf(one, types, `${where}/${name}`)),
    ...oneOf.flatMap(one => partsOf(one, types, where)),
    ...(items === undefined ? [] : partsOf(items, types, `${where}/0`)),
  ]
}
