import { Validator } from '@seriousme/openapi-schema-validator'
import t from 'tap'
import { startTestService } from '../support/service.ts'

type Schema = {
  $ref?: string
  type?: string | string[]
  format?: string
  pattern?: string
  enum?: unknown[]
  properties?: Record<string, Schema>
  items?: Schema
  additionalProperties?: Schema | boolean
  oneOf?: Schema[]
  anyOf?: Schema[]
  allOf?: Schema[]
  discriminator?: { propertyName: string; mapping: Record<string, string> }
}
type Media = { content?: Record<string, { schema?: Schema }> }
type Call = {
  operationId: string
  tags: string[]
  parameters?: { name: string; schema: Schema }[]
  requestBody?: Media
  responses: Record<string, Media>
}

const PLACE = '#/components/schemas/'

t.test('/openapi.json is written so that generators in every language understand it', async t => {
  const { call } = await startTestService(t, { ROLE: 'api', DOCS_ENABLED: 'true' })
  const document = (await call('GET', '/openapi.json')).body
  const components: Record<string, Schema> = document.components.schemas
  const calls = callsOf(document.paths)
  const callbacks = callsOf(document.webhooks)
  const inPlaces = [...calls, ...callbacks].flatMap(([, one]) => placesOf(one))
  const parts = [...Object.entries(components), ...inPlaces].flatMap(([where, schema]) =>
    partsOf(schema, where),
  )
  t.ok(parts.length > 500)

  t.test('each JSON body and answer of /api is a named schema, each error a Problem', async t => {
    for (const [path, one] of [...calls, ...callbacks])
      for (const { type, schema } of mediaOf(one))
        if (type === 'application/problem+json')
          t.equal(schema.$ref, `${PLACE}Problem`, one.operationId)
        else if (path.startsWith('/api/') && type === 'application/json')
          t.ok(components[schema.$ref?.slice(PLACE.length) ?? ''], one.operationId)
  })

  t.test('an object with members is a component, and so is a union', async t => {
    for (const [where, { properties = {}, oneOf }] of parts)
      if (Object.keys(properties).length > 0 || oneOf !== undefined)
        t.ok(where in components, where)
  })

  t.test('each union says which member tells its schemas apart, each by its own value', async t => {
    const unions = parts.filter(([, { oneOf }]) => oneOf !== undefined)
    t.same(unions.map(([name]) => name).sort(), ['OperateRequest', 'PaymentResolution'])
    for (const [where, { oneOf = [], discriminator }] of unions) {
      const { propertyName = '', mapping = {} } = discriminator ?? {}
      t.same(
        Object.values(mapping),
        oneOf.map(one => one.$ref),
        where,
      )
      for (const [value, ref] of Object.entries(mapping))
        t.same(components[ref.slice(PLACE.length)]?.properties?.[propertyName]?.enum, [value], ref)
    }
  })

  t.test(
    'no schema is null alone, of several types, or a union or an intersection without a name',
    async t => {
      for (const [where, { type, anyOf, allOf }] of parts) {
        t.equal(anyOf ?? allOf, undefined, where)
        t.not(type, 'null', where)
        t.ok([type].flat().filter(one => one !== 'null').length <= 1, where)
      }
    },
  )

  t.test('no pattern has an escape that PHP and Go do not know', async t => {
    for (const [where, { pattern = '' }] of parts) t.notMatch(pattern, /\\[ucpP]/, where)
  })

  t.test('only texts have a list of values', async t => {
    for (const [where, schema] of parts) {
      t.notOk('const' in schema, where)
      if (schema.enum !== undefined) t.equal([schema.type].flat()[0], 'string', where)
    }
  })

  t.test('no member has a default, which some generators take for required', async t => {
    for (const [where, schema] of parts)
      if (where.includes('/')) t.notOk('default' in schema, where)
  })

  t.test('each number has a format, so that no language takes a smaller one', async t => {
    for (const [where, { type, format }] of parts)
      for (const one of [type].flat())
        if (one === 'number') t.equal(format, 'double', where)
        else if (one === 'integer') t.match(format, /^int(32|64)$/, where)
  })

  t.test('each tag is described once and for one thing; each call has its own name', async t => {
    const tags = document.tags.map(({ name }: { name: string }) => name)
    const used = (group: [string, Call][]) => new Set(group.flatMap(([, one]) => one.tags))
    t.equal(new Set(tags).size, tags.length)
    t.same([...used([...calls, ...callbacks])].sort(), tags.toSorted())
    t.ok(used(calls).isDisjointFrom(used(callbacks)))
    for (const [path, { tags }] of calls)
      t.equal(tags.includes('webhooks'), path.startsWith('/api/webhooks/'), path)
    const names = [...calls, ...callbacks].map(([, { operationId }]) => operationId.toLowerCase())
    t.equal(new Set(names).size, names.length)
  })

  t.test('/openapi-3.0.json is the same contract as valid OpenAPI 3.0', async t => {
    const old = (await call('GET', '/openapi-3.0.json')).body
    const validator = new Validator()
    t.same(await validator.validate(old), { valid: true })
    t.equal(validator.version, '3.0')
    t.same(Object.keys(old.paths), Object.keys(document.paths))
    t.same(Object.keys(old.components.schemas), Object.keys(components))
  })

  t.test('a CSV is a text in /openapi.json and a file in /openapi-3.0.json', async t => {
    const old = (await call('GET', '/openapi-3.0.json')).body
    const schemasIn = (paths: object) =>
      callsOf(paths).flatMap(([, one]) => mediaOf(one).filter(({ type }) => type === 'text/csv'))
    const texts = schemasIn(document.paths)
    t.ok(texts.length > 5)
    for (const { schema } of texts) t.same(schema, { type: 'string' })
    const files = schemasIn(old.paths)
    t.equal(files.length, texts.length)
    for (const { schema } of files) t.same(schema, { type: 'string', format: 'binary' })
  })
})

t.test(
  'a member and its schema, joined to a name as in orval, give one name only once',
  async t => {
    const { call } = await startTestService(t, { ROLE: 'api', DOCS_ENABLED: 'true' })
    const { components } = (await call('GET', '/openapi.json')).body
    const names = Object.entries<Schema>(components.schemas).flatMap(
      ([name, { properties = {} }]) => [
        name,
        ...Object.keys(properties).map(one => name + one.replaceAll('_', '')),
      ],
    )
    const given = names.map(name => name.toLowerCase()).sort()
    t.ok(given.length > 500)
    t.same(
      given.filter((name, n) => name === given[n + 1]),
      [],
    )
  },
)

t.test('a day has no pattern in /openapi-3.0.json, where generators make a date of it', async t => {
  const { call } = await startTestService(t, { ROLE: 'api', DOCS_ENABLED: 'true' })
  const days: object[] = []
  JSON.stringify((await call('GET', '/openapi-3.0.json')).body, (_, value) => {
    if (value?.format === 'date') days.push(value)
    return value
  })
  t.ok(days.length > 5)
  for (const day of days) t.notOk('pattern' in day)
})

t.test(
  'the patterns of /openapi-3.0.json have only ASCII, as Ruby wants, and match ids',
  async t => {
    const { call } = await startTestService(t, { ROLE: 'api', DOCS_ENABLED: 'true' })
    const text = JSON.stringify((await call('GET', '/openapi-3.0.json')).body)
    for (const [, pattern] of text.matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g))
      t.notMatch(pattern, /\\\\x[89a-f]|\\\\u|[^ -~]/)
    const { externalId } = JSON.parse(text).components.schemas.LoanCreateData.properties
    const isId = new RegExp(externalId.pattern)
    for (const id of ['L-1', ' L 1 ', 'ऋण-१', '...x', 'é']) t.match(id, isId, id)
    for (const id of ['', '.', '..', ' ', 'L\n']) t.notMatch(id, isId, JSON.stringify(id))
  },
)

function callsOf(group: object): [string, Call][] {
  return Object.entries(group).flatMap(([path, calls]) =>
    Object.values(calls as object).map((one): [string, Call] => [path, one]),
  )
}

function mediaOf({ requestBody = {}, responses }: Call) {
  return [requestBody, ...Object.values(responses)].flatMap(({ content = {} }) =>
    Object.entries(content).map(([type, { schema = {} }]) => ({ type, schema })),
  )
}

function placesOf(call: Call): [string, Schema][] {
  const { operationId, parameters = [] } = call
  return [...mediaOf(call).map(({ schema, type }) => ({ name: type, schema })), ...parameters].map(
    ({ name, schema }) => [`${operationId} ${name}`, schema],
  )
}

function partsOf(schema: Schema, where: string): [string, Schema][] {
  const {
    properties = {},
    items,
    additionalProperties,
    oneOf = [],
    anyOf = [],
    allOf = [],
  } = schema
  return [
    [where, schema],
    ...Object.entries(properties).flatMap(([name, one]) => partsOf(one, `${where}/${name}`)),
    ...[...oneOf, ...anyOf, ...allOf].flatMap((one, i) => partsOf(one, `${where}/${i}`)),
    ...(items === undefined ? [] : partsOf(items, `${where}[]`)),
    ...(typeof additionalProperties === 'object'
      ? partsOf(additionalProperties, `${where}{}`)
      : []),
  ]
}
