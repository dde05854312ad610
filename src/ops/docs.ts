import { STATUS_CODES } from 'node:http'
import { fastifySwagger } from '@fastify/swagger'
import { fastifySwaggerUi } from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { Problem } from '../http/problem.ts'
import { exampleOf, withExamples } from './examples.ts'
import { type Call, refusalsOf } from './refusals.ts'

const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 32"><text y="24" font-family="sans-serif" font-size="24" fill="white">LoanOps</text></svg>'

export const docsRoutes = (webhooks: object) =>
  fastifyPlugin(async (app: FastifyInstance) => {
    await app.register(fastifySwagger, {
      openapi: {
        openapi: '3.1.0',
        info: {
          title: 'LoanOps',
          description:
            'Loan and client operations between a loan origination system and a core ledger',
          version: '1',
          license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
        },
        servers: [{ url: '/' }],
        components: {
          securitySchemes: {
            internalToken: { type: 'apiKey', in: 'header', name: 'X-Internal-Token' },
            bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
          },
        },
      },
      transformObject: document =>
        'openapiObject' in document ? completed(document.openapiObject, webhooks) : {},
    })
    await app.register(fastifySwaggerUi, {
      routePrefix: '/docs',
      theme: { title: 'LoanOps' },
      logo: { type: 'image/svg+xml', content: Buffer.from(LOGO), href: '/docs' },
    })
    app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger())
  })

/** Adds what the routes' schemas lack: tokens, refusals, examples, and the calls that we make. */
function completed<T extends { paths?: object; components?: object }>(
  document: T,
  webhooks: object,
) {
  for (const [path, calls] of Object.entries(document.paths ?? {}))
    for (const [method, call] of Object.entries(calls as Record<string, Call>))
      complete(path, method, call)
  const { $id: _, ...schema } = Problem
  document.components = { ...document.components, schemas: { Problem: schema } }
  return { ...document, webhooks }
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
  delete call['x-for-any-role']
}
