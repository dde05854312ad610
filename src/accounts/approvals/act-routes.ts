import type { Static, TSchema } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest, FastifySchema, RouteShorthandOptions } from 'fastify'
import type { App } from '../../http/app.ts'
import { needsToDo } from '../access/needs.ts'
import type { ActCall } from './act-call.ts'
import { answerAct, type ForApprovals } from './perform.ts'

export type CheckedRequest<Schema> = {
  [Part in keyof Schema as Part extends 'querystring'
    ? 'query'
    : Part]: Schema[Part] extends TSchema ? Static<Schema[Part]> : never
}
export type ActOptions<Schema, Request> = Pick<
  RouteShorthandOptions,
  'onRequest' | 'preHandler' | 'validatorCompiler' | 'config'
> & {
  /** The request of the call; without this function, the members of path, query and body. */
  asked?(request: CheckedRequest<Schema>): Request | Promise<Request>
  /** Does the call and answers, where that is not as in the API. */
  answer?(asked: Request, reply: FastifyReply): Promise<unknown>
}

/** Adds routes for calls that a second person may have to approve; the call says which acts it may do. */
export function actRoutes(app: App, context: ForApprovals) {
  const adding =
    (method: string) =>
    <Schema extends FastifySchema, Request extends object, Looked, Result>(
      url: string,
      schema: Schema,
      call: ActCall<Request, Looked, Result>,
      { asked, answer, config, ...options }: ActOptions<Schema, Request> = {},
    ) => {
      const { actsOf } = call
      const actsIn = actsOf && ((request: FastifyRequest) => actsOf(membersOf(request)))
      app.route({
        ...options,
        method,
        url,
        schema: schema as FastifySchema,
        config: { ...needsToDo(call), ...(actsIn && { actsIn }), ...config },
        handler: async (request, reply) => {
          const whole = (await asked?.(request as never)) ?? membersOf<Request>(request)
          return answer?.(whole, reply) ?? answerAct(context, call, whole, reply)
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
