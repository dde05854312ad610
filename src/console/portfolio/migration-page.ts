import { html } from 'hono/html'
import { toRead } from '../../accounts/access/needs.ts'
import type { App } from '../../http/app.ts'
import { only } from '../../http/fields/schemas.ts'
import { findMigration } from '../../portfolio/find-migration.ts'
import { type MigrationRecord, ofOneMigration } from '../../portfolio/migration-record.ts'
import { actionsOn } from '../audit/actions-on.ts'
import { answerPage } from '../frame/answer.ts'
import { type Html, nothing } from '../frame/html.ts'
import { live, liveQuery, refreshLink } from '../frame/live.ts'
import { doneNotice } from '../frame/notice.ts'
import { migrationPath } from '../frame/paths.ts'
import type { PageContext } from '../page-context.ts'
import { badRows, findBadRows } from './bad-rows.ts'
import { dryRunFindings } from './dry-run-findings.ts'
import { migrationForms } from './migration-forms.ts'
import { progressOf } from './progress.ts'

const schema = { params: ofOneMigration, querystring: only(liveQuery) }

export function migrationPage(app: App, { db, formats }: PageContext): void {
  app.get('/portfolio/:id', toRead(schema), async (request, reply) => {
    const { id } = request.params
    const migration = await findMigration(db, id)
    const [bad, actions] = await Promise.all([findBadRows(db, id), actionsOn(db, id, formats)])
    const body = html`<h1>Portfolio of ${migration.type}</h1>
${doneNotice(request.query.done)}
${live(
  request.url,
  // A refresh includes the forms, because they depend on the state; a running file has no box to tick.
  migration.status === 'running' ? request.query : { refresh: 'off' },
  html`${progressOf(migration, formats)}${migration.status === 'running' ? html`<p class="bar">${refreshLink(request.url)}</p>` : ''}
${migrationForms(migration, request.user.role)}
${findingsLink(migration)}${dryRunFindings(migration.dry_run)}
${badRows(migration, bad)}${actions}`,
)}`
    return answerPage(request, reply, { title: `Portfolio of ${migration.type} ${id}`, body })
  })
}

function findingsLink({ migration_id: id, ...migration }: MigrationRecord): Html {
  const { invalid_rows, failed, stopped, dry_run } = migration
  const found = dry_run === null ? 0 : dry_run.differs + dry_run.refused + dry_run.unknown
  if (invalid_rows + failed + stopped + found === 0) return nothing
  return html`<p class="bar"><a href="${migrationPath(id)}/findings.csv" download>All findings as CSV</a><span>what the upload, the dry run and the run found wrong, line by line</span></p>`
}
