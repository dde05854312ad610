import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Validator } from '@seriousme/openapi-schema-validator'
import t from 'tap'
import { inlined } from '../support/http/inlined.ts'
import { endpointsOf } from '../support/http/openapi-requests.ts'
import { startTestService } from '../support/service.ts'

const CALLBACKS = [
  'operation.succeeded',
  'operation.failed',
  'payment.posted',
  'payment.suspended',
  'payment.reversed',
  'payment.returned',
  'payment.handled',
  'payment.dismissed',
  'payment.objected',
  'migration.completed',
  'migration.cancelled',
]

t.test('the OpenAPI document is valid and complete', async t => {
  const { call } = await startTestService(t, { ROLE: 'api', DOCS_ENABLED: 'true' })
  const document = (await call('GET', '/openapi.json')).body
  const endpoints = endpointsOf(document)

  t.test('the OpenAPI document is valid OpenAPI 3.1 to a validator by JSON Schema', async t => {
    const validator = new Validator()
    t.same(await validator.validate(document), { valid: true })
    t.equal(validator.version, '3.1')
  })

  t.test(
    'the OpenAPI document is valid to a linter that knows the specification, its examples included',
    async t => {
      const config = await createConfig({
        extends: ['recommended'],
        rules: {
          'no-invalid-media-type-examples': 'error',
          'no-invalid-parameter-examples': 'error',
          'no-invalid-schema-examples': 'error',
          // Health is asked for by machines that send nothing to refuse.
          'operation-4xx-response': 'off',
          // No gateway is called `backfills`, and methods and literal segments keep such paths apart.
          'no-ambiguous-paths': 'off',
        },
      })
      const problems = await lintFromString({ source: JSON.stringify(document), config })
      t.same(
        problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]),
        [],
      )
    },
  )

  t.test('the OpenAPI document names every operation, in camelCase and only once', async t => {
    const names = endpoints.map(({ operationId }) => operationId)
    t.ok(names.length > 30)
    for (const name of names) t.match(name, /^[a-z]+([A-Z][a-z]*)+$|^login$/)
    t.equal(new Set(names).size, names.length)
  })

  t.test('the OpenAPI document has an example of every body and every path parameter', async t => {
    for (const { operationId, parameters = [], requestBody } of endpoints) {
      for (const { in: where, name, example } of parameters)
        if (where === 'path') t.ok(example, `${operationId} ${name}`)
      for (const { example, examples } of Object.values(requestBody?.content ?? {}))
        t.ok(example ?? examples, operationId)
    }
  })

  t.test('the OpenAPI document describes each callback with signed headers and data', async t => {
    t.same(Object.keys(document.webhooks), CALLBACKS)
    const { webhooks } = inlined(document)
    for (const type of CALLBACKS) {
      const { parameters, requestBody } = webhooks[type].post
      t.same(
        parameters.map(({ name, required }: any) => `${name} ${required}`),
        ['webhook-id true', 'webhook-timestamp true', 'webhook-signature true'],
      )
      const { type: named, data } = requestBody.content['application/json'].schema.properties
      t.same(named.enum, [type])
      t.ok(Object.keys(data.properties).length > 5, type)
    }
  })
})
