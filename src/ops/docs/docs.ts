import { fastifySwagger } from '@fastify/swagger'
import { fastifySwaggerUi } from '@fastify/swagger-ui'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { limitConcurrent } from '../../http/connections/connections.ts'
import { completed } from './complete-docs.ts'
import { asOpenApi30 } from './openapi-30.ts'
import { TAGS, tagOf } from './tags.ts'

const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 32"><text y="24" font-family="sans-serif" font-size="24" fill="white">LoanOps</text></svg>'

/** @param maxReaders of the page and its files, each of which keeps a file open until the answer is read */
export const docsRoutes = (webhooks: object, maxReaders: number) =>
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
        tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
        components: {
          securitySchemes: {
            internalToken: { type: 'apiKey', in: 'header', name: 'X-Internal-Token' },
            bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
          },
        },
      },
      transform: ({ schema, url, route: { config } }) => ({
        schema: { ...schema, tags: [tagOf(url)], 'x-needs': config?.needs, 'x-acts': config?.acts },
        url,
      }),
      transformObject: document =>
        'openapiObject' in document ? completed(document.openapiObject, webhooks) : {},
    })
    const sendDocument = documents(app)
    await app.register(async app => {
      app.addHook('onRequest', limitConcurrent(maxReaders, 'readers of the docs'))
      await app.register(fastifySwaggerUi, {
        uiHooks: { preHandler: sendDocument },
        routePrefix: '/docs',
        theme: { title: 'LoanOps' },
        logo: { type: 'image/svg+xml', content: Buffer.from(LOGO), href: '/docs' },
      })
    })
    for (const path of ['/openapi.json', '/openapi-3.0.json'])
      app.get(path, { schema: { hide: true } }, sendDocument)
  })

/** Callers who do not read share the bytes of a document; each would otherwise keep a text of its own in memory. */
function documents(app: FastifyInstance) {
  const texts: Record<string, () => string> = {
    '/openapi.json': () => JSON.stringify(app.swagger()),
    '/openapi-3.0.json': () => JSON.stringify(asOpenApi30(app.swagger())),
    '/docs/json': () => JSON.stringify(app.swagger()),
    '/docs/yaml': () => app.swagger({ yaml: true }),
  }
  const made = new Map<string, Buffer>()

  return async ({ routeOptions: { url = '' } }: FastifyRequest, reply: FastifyReply) => {
    const text = texts[url]
    if (text === undefined) return
    const bytes = made.get(url) ?? Buffer.from(text())
    made.set(url, bytes)
    reply.type(url === '/docs/yaml' ? 'application/x-yaml' : 'application/json; charset=utf-8')
    return reply.send(bytes)
  }
}
