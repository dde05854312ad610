import type { FastifySchema } from 'fastify'
import type { ActCall } from '../../../accounts/approvals/act-call.ts'
import {
  type ActOptions,
  actRoutes,
  type CheckedRequest,
} from '../../../accounts/approvals/act-routes.ts'
import type { ForApprovals } from '../../../accounts/approvals/perform.ts'
import type { App } from '../../../http/app.ts'
import { performForm } from './perform-form.ts'

type Options<Schema, Asked, Result> = Omit<ActOptions<Schema, Asked>, 'answer'> & {
  /** The page to show when the form is done, with its notice. */
  done: string | ((request: CheckedRequest<Schema>, result: Result) => string)
}

/** Adds routes for forms whose calls a second person may have to approve. */
export function formRoutes(app: App, context: ForApprovals) {
  const { post } = actRoutes(app, context)
  return <Schema extends FastifySchema, Asked extends object, Looked, Result>(
    url: string,
    schema: Schema,
    call: ActCall<Asked, Looked, Result>,
    { done, ...options }: Options<Schema, Asked, Result>,
  ) => {
    const pageAfter = typeof done === 'string' ? () => done : done
    post(url, schema, call, {
      ...options,
      answer: (asked, reply) =>
        performForm(context, call, {
          asked,
          reply,
          done: result => reply.redirect(pageAfter(reply.request as never, result), 303),
        }),
    })
  }
}
