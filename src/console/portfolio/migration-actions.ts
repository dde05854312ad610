import { Type } from '@sinclair/typebox'
import type { FastifyContextConfig } from 'fastify'
import { askerOf } from '../../accounts/access/actor.ts'
import { needsToDo, operate, read, toDo, toOperate } from '../../accounts/access/needs.ts'
import type { App } from '../../http/app.ts'
import { acceptFiles } from '../../http/body/multipart.ts'
import { oneOf, only } from '../../http/fields/schemas.ts'
import { downloadsAt } from '../../portfolio/download-routes.ts'
import { ofOneMigration as params } from '../../portfolio/migration-record.ts'
import { performForm } from '../frame/forms/perform-form.ts'
import { donePath } from '../frame/notice.ts'
import { migrationPath } from '../frame/paths.ts'
import type { PageContext } from '../page-context.ts'

const runSchema = {
  params,
  body: Type.Optional(only({ skip_invalid: Type.Optional(oneOf(['true', 'on'])) })),
}

const DOWNLOADS = {
  template: '/portfolio/templates/:type.csv',
  'errors.csv': '/portfolio/:id/errors.csv',
  'findings.csv': '/portfolio/:id/findings.csv',
}

export async function migrationActions(app: App, context: PageContext): Promise<void> {
  const { portfolio } = context
  await app.register(acceptFiles)

  app.post('/portfolio/upload', longCall(context), async (request, reply) => {
    const id = await portfolio.upload(request, askerOf(request), '/console/portfolio/templates')
    return reply.redirect(donePath(migrationPath(id), 'uploaded'), 303)
  })

  runActions(app, context)

  app.post(
    '/portfolio/:id/discard',
    toDo(portfolio.calls.discardCall, { params }),
    async (request, reply) => {
      const done = donePath('/console/portfolio', 'discarded')
      return performForm(context, portfolio.calls.discardCall, {
        asked: request.params,
        reply,
        done,
      })
    },
  )

  downloadsAt(app, DOWNLOADS, portfolio, { ...read, takesLong: true })
}

const longCall = ({ portfolio }: PageContext, needs: FastifyContextConfig = operate()) => ({
  onRequest: portfolio.limitLongCalls,
  config: { ...needs, takesLong: true },
})

function runActions(app: App, context: PageContext): void {
  const { portfolio } = context
  const { runCall, retryCall } = portfolio.calls
  const start = (path: string, isDryRun: boolean) =>
    app.post(
      path,
      isDryRun ? toOperate(runSchema) : toDo(runCall, runSchema),
      async (request, reply) => {
        const { id } = request.params
        const skip_invalid = request.body?.skip_invalid !== undefined
        const asked = { migration_id: id, dry_run: isDryRun, skip_invalid, after: [] }
        const done = donePath(migrationPath(id), isDryRun ? 'dryRunStarted' : 'started')
        return performForm(context, runCall, { asked, reply, done })
      },
    )
  start('/portfolio/:id/run', false)
  start('/portfolio/:id/dry-run', true)

  const retry = { schema: { params }, ...longCall(context, needsToDo(retryCall)) }
  app.post('/portfolio/:id/retry', retry, async (request, reply) => {
    const done = donePath(migrationPath(request.params.id), 'retried')
    return performForm(context, retryCall, { asked: request.params, reply, done })
  })

  app.post('/portfolio/:id/cancel', toOperate({ params }), async (request, reply) => {
    const { id } = request.params
    await portfolio.cancel(id, askerOf(request))
    return reply.redirect(donePath(migrationPath(id), 'runCancelled'), 303)
  })
}
