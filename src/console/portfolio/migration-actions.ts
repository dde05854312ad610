import { Type } from '@sinclair/typebox'
import { askerOf } from '../../accounts/access/actor.ts'
import { operate, read, toOperate } from '../../accounts/access/needs.ts'
import type { App } from '../../http/app.ts'
import { acceptFiles } from '../../http/body/multipart.ts'
import { oneOf, only } from '../../http/fields/schemas.ts'
import { downloadsAt } from '../../portfolio/download-routes.ts'
import { ofOneMigration as params } from '../../portfolio/migration-record.ts'
import { formRoutes } from '../frame/forms/form-routes.ts'
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
  const { limitLongCalls: onRequest } = portfolio
  const form = formRoutes(app, context)
  await app.register(acceptFiles)

  const long = { onRequest, config: { ...operate(), takesLong: true } }
  app.post('/portfolio/upload', long, async (request, reply) => {
    const id = await portfolio.upload(request, askerOf(request), '/console/portfolio/templates')
    return reply.redirect(donePath(migrationPath(id), 'uploaded'), 303)
  })

  const { runCall, retryCall, discardCall } = portfolio.calls
  const start = (path: string, isDryRun: boolean) =>
    form(path, runSchema, runCall, {
      ...(isDryRun && { config: operate() }),
      asked: ({ params, body }) => ({
        migration_id: params.id,
        dry_run: isDryRun,
        skip_invalid: body?.skip_invalid !== undefined,
        after: [],
      }),
      done: ({ params }) =>
        donePath(migrationPath(params.id), isDryRun ? 'dryRunStarted' : 'started'),
    })
  start('/portfolio/:id/run', false)
  start('/portfolio/:id/dry-run', true)

  form('/portfolio/:id/retry', { params }, retryCall, {
    onRequest,
    config: { takesLong: true },
    done: ({ params }) => donePath(migrationPath(params.id), 'retried'),
  })

  app.post('/portfolio/:id/cancel', toOperate({ params }), async (request, reply) => {
    const { id } = request.params
    await portfolio.cancel(id, askerOf(request))
    return reply.redirect(donePath(migrationPath(id), 'runCancelled'), 303)
  })

  form('/portfolio/:id/discard', { params }, discardCall, {
    done: donePath('/console/portfolio', 'discarded'),
  })

  downloadsAt(app, DOWNLOADS, portfolio, { ...read, takesLong: true })
}
