import type { FastifyPluginAsyncTypebox, TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type {
  FastifyRequest,
  FastifySchema,
  RawRequestDefaultExpression,
  RawServerDefault,
  RouteGenericInterface,
  RouteShorthandOptions,
} from 'fastify'
import { toDo } from '../access/needs.ts'
import type { ActCall } from './act-call.ts'
import { answerAct, type ForApprovals } from './perform.ts'

type Validated<Schema extends FastifySchema> = FastifyRequest<
  RouteGenericInterface,
  RawServerDefault,
  RawRequestDefaultExpression,
  Schema,
  TypeBoxTypeProvider
>
type Options<Schema extends FastifySchema, Request> = Pick<
  RouteShorthandOptions,
  'onRequest' | 'preHandler' | 'validatorCompiler'
> & {
  /** The request of the call; without this function, the members of path, query and body. */
  asked?(request: Validated<Schema>): Request | Promise<Request>
}

/** Adds routes for calls that a second person may have to approve; the call says which acts it may do. */
export function actRoutes(app: Parameters<FastifyPluginAsyncTypebox>[0], context: ForApprovals) {
  const adding =
    (method: string) =>
    <Schema extends FastifySchema, Request extends object, Looked, Result>(
      url: string,
      schema: Schema,
      call: ActCall<Request, Looked, Result>,
      { asked = membersOf, ...options }: Options<Schema, Request> = {},
    ) => {
      const { actsOf } = call
      const actsIn = actsOf && ((request: FastifyRequest) => actsOf(membersOf(request)))
      app.route({
        ...options,
        method,
        url,
        schema: schema as FastifySchema,
        config: { ...toDo(call), ...(actsIn && { actsIn }) },
        handler: async (request, reply) =>
          answerAct(context, call, await asked(request as never), reply),
      })
    }
  return { post: adding('POST'), put: adding('PUT'), delete: adding('DELETE') }
}

/** Only what a schema has checked. */
function membersOf<Request>({ params, query, body, routeOptions }: FastifyRequest): Request {
  const { schema } = routeOptions
  return Object.assign({}, params, schema?.querystring && query, schema?.body && body) as Request
}
