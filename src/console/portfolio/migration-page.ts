import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { html } from 'hono/html'
import { closed, oneOf } from '../../http/schemas.ts'
import { findMigration } from '../../portfolio/find-migration.ts'
import { ofOneMigration } from '../../portfolio/migration-record.ts'
import { actionsOn } from '../audit/actions-on.ts'
import { answerPage } from '../frame/answer.ts'
import { live, refreshLink } from '../frame/live.ts'
import { DoneQuery, doneNotice } from '../frame/notice.ts'
import type { PageContext } from '../page-context.ts'
import { badRows, findBadRows } from './bad-rows.ts'
import { dryRunFindings } from './dry-run-findings.ts'
import { migrationForms } from './migration-forms.ts'
import { progressOf } from './progress.ts'

const schema = {
  params: ofOneMigration,
  querystring: Type.Object({ refresh: Type.Optional(oneOf(['off'])), done: DoneQuery }, closed),
}

export function migrationPage({ db, formats }: PageContext): FastifyPluginAsyncTypebox {
  return async app => {
    app.get('/portfolio/:id', { schema }, async (request, reply) => {
      const { id } = request.params
      const migration = await findMigration(db, id)
      const [bad, actions] = await Promise.all([findBadRows(db, id), actionsOn(db, id, formats)])
      const body = html`<h1>Portfolio of ${migration.type}</h1>
${doneNotice(request.query.done)}
${live(
  request.url,
  // Refreshes the forms too, because they depend on the state; a running file has no box to tick.
  migration.status === 'running' ? request.query : { refresh: 'off' },
  html`${progressOf(migration, formats)}${migration.status === 'running' ? html`<p class="bar">${refreshLink(request.url)}</p>` : ''}
${migrationForms(migration, request.user.role)}
${dryRunFindings(migration.dry_run)}
${badRows(id, bad)}${actions}`,
)}`
      return answerPage(request, reply, { title: `Portfolio of ${migration.type} ${id}`, body })
    })
  }
}
