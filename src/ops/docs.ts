import { fastifySwagger } from '@fastify/swagger'
import { fastifySwaggerUi } from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { Problem } from '../http/problem.ts'

const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 32"><text y="24" font-family="sans-serif" font-size="24" fill="white">LoanOps</text></svg>'

/** Serves `/openapi.json`, generated from the routes' schemas, and `/docs`, to read it and try it out in a browser. */
export const docsRoutes = fastifyPlugin(async (app: FastifyInstance) => {
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
      components: {
        securitySchemes: {
          internalToken: { type: 'apiKey', in: 'header', name: 'X-Internal-Token' },
          bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        },
      },
    },
    transformObject: document =>
      'openapiObject' in document ? withProblems(document.openapiObject) : {},
  })
  await app.register(fastifySwaggerUi, {
    routePrefix: '/docs',
    theme: { title: 'LoanOps' },
    logo: { type: 'image/svg+xml', content: Buffer.from(LOGO), href: '/docs' },
  })
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger())
})

type Call = { responses?: object; security?: object }

const LOGINS = ['/api/account/login', '/api/account/password']
const retryAfter = {
  'Retry-After': { description: 'seconds to wait before retrying', schema: { type: 'integer' } },
}

/** Adds what all calls of the API have in common: the token they require, and the shape of their errors. */
function withProblems<T extends { paths?: object; components?: object }>(document: T): T {
  const { $id: _, ...schema } = Problem
  const content = {
    'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
  }
  const busy = (description: string) => ({ description, headers: retryAfter, content })
  for (const [path, calls] of Object.entries(document.paths ?? {})) {
    if (!path.startsWith('/api/')) continue
    const security = path.startsWith('/api/webhooks/') ? [] : [{ internalToken: [] }]
    for (const call of Object.values(calls as Record<string, Call>)) {
      call.security ??= security
      call.responses = {
        ...call.responses,
        ...(LOGINS.includes(path) ? { 429: busy('Too many failed attempts') } : {}),
        503: busy('Nothing can be stored or read now'),
        default: { description: 'A refusal', content },
      }
    }
  }
  document.components = { ...document.components, schemas: { Problem: schema } }
  return document
}
