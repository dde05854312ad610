import type { Static, TSchema } from '@sinclair/typebox'
import type { FastifyRequest, FastifySchema, RouteShorthandOptions } from 'fastify'
import type { App } from '../../http/app.ts'
import { needsToDo } from '../access/needs.ts'
import type { ActCall } from './act-call.ts'
import { answerAct, type ForApprovals } from './perform.ts'

type Checked<Schema> = {
  [Part in keyof Schema as Part extends 'querystring'
    ? 'query'
    : Part]: Schema[Part] extends TSchema ? Static<Schema[Part]> : never
}
type Options<Schema extends FastifySchema, Request> = Pick<
  RouteShorthandOptions,
  'onRequest' | 'preHandler' | 'validatorCompiler'
> & {
  /** The request of the call; without this function, the members of path, query and body. */
  asked?(request: Checked<Schema>): Request | Promise<Request>
}

/** Adds routes for calls that a second person may have to approve; the call says which acts it may do. */
export function actRoutes(app: App, context: ForApprovals) {
  const adding =
    (method: string) =>
    <Schema extends FastifySchema, Request extends object, Looked, Result>(
      url: string,
      schema: Schema,
      call: ActCall<Request, Looked, Result>,
      { asked, ...options }: Options<Schema, Request> = {},
    ) => {
      const { actsOf } = call
      const actsIn = actsOf && ((request: FastifyRequest) => actsOf(membersOf(request)))
      app.route({
        ...options,
        method,
        url,
        schema: schema as FastifySchema,
        config: { ...needsToDo(call), ...(actsIn && { actsIn }) },
        handler: async (request, reply) => {
          const whole = asked?.(request as never) ?? membersOf<Request>(request)
          return answerAct(context, call, await whole, reply)
        },
      })
    }
  return { post: adding('POST'), put: adding('PUT'), delete: adding('DELETE') }
}

/** The members of a request that a schema has checked: no others are taken. */
function membersOf<Request>({ params, query, body, routeOptions }: FastifyRequest): Request {
  const { schema } = routeOptions
  return Object.assign({}, params, schema?.querystring && query, schema?.body && body) as Request
}
