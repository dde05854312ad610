import { Type } from '@sinclair/typebox'
import { html } from 'hono/html'
import { toRead } from '../../accounts/access/needs.ts'
import type { Role } from '../../accounts/account.ts'
import { findStatement, findUploadOf } from '../../books/statements/find-statements.ts'
import { AS_A_WHOLE, rowsTaken } from '../../books/statements/upload-statement.ts'
import { withdrawCall } from '../../books/statements/withdraw-call.ts'
import type { App } from '../../http/app.ts'
import { Id } from '../../http/fields/text-fields.ts'
import { actionsOn } from '../audit/actions-on.ts'
import { answerPage } from '../frame/answer.ts'
import { fileFacts } from '../frame/file-facts.ts'
import { count, ofAll } from '../frame/formats.ts'
import { formRoutes } from '../frame/forms/form-routes.ts'
import { facts, type Html, nothing } from '../frame/html.ts'
import { DoneQuery, doneNotice, donePath } from '../frame/notice.ts'
import { statementPath } from '../frame/paths.ts'
import { idColumn, numberColumn } from '../lists/list.ts'
import { table } from '../lists/table.ts'
import type { PageContext } from '../page-context.ts'
import { words } from '../text/words.ts'

const params = Type.Object({ id: Id })
const schema = { params, querystring: DoneQuery }

export function statementPage(app: App, context: PageContext): void {
  const { db, formats } = context
  app.get('/books/statements/:id', toRead(schema), async (request, reply) => {
    const file = await findStatement(db, request.params.id)
    const { errors, ignored_columns } = await findUploadOf(db, file.statement_id)
    const { statement_id: id, withdrawn_at } = file
    const title = `Report ${file.file_name ?? 'without a name'}`
    const body = html`<h1>${title}</h1>
${doneNotice(request.query.done)}
${facts([
  ...fileFacts(file, statementPath),
  ['Gateway', words(file.gateway)],
  ['Lender', file.lender],
  ['Rows', count(file.rows)],
  ['Valid', count(file.valid_rows)],
  ['Invalid', count(file.invalid_rows)],
  ['Ignored columns', ignored_columns.join(', ')],
  ['Uploaded by', file.uploaded_by],
  ['Uploaded', formats.time(file.uploaded_at)],
  ['Withdrawn by', file.withdrawn_by],
  ['Withdrawn', formats.time(withdrawn_at)],
])}
${whyIncomplete(
  file,
  errors.find(({ line }) => line === null),
)}
${invalidRows(
  errors.filter(({ line }) => line !== null),
  file.invalid_rows,
)}
${withdrawn_at === null ? withdrawForm(id, request.user.role) : nothing}
${await actionsOn(db, id, formats)}
<p><a href="/console/books/statements">Uploaded reports</a></p>`
    return answerPage(request, reply, { title, body })
  })

  formRoutes(app, context)('/books/statements/:id/withdraw', { params }, withdrawCall, {
    asked: async ({ params: { id } }) => ({ id, gateway: (await findStatement(db, id)).gateway }),
    done: ({ params }) => donePath(statementPath(params.id), 'withdrawn'),
  })
}

type File = Awaited<ReturnType<typeof findStatement>>
type RowError = { line: number | null; reason: string }

/** A file without a hash was not read to its end. */
function whyIncomplete({ file_sha256, withdrawn_at, valid_rows }: File, refused?: RowError): Html {
  if (file_sha256 !== null || withdrawn_at !== null) return nothing
  const taken = rowsTaken(valid_rows)
  const why =
    refused === undefined
      ? `The upload has not ended. ${taken}. If it was interrupted, upload the file`
      : `The file was refused: ${refused.reason}. ${taken}. Upload the corrected file`
  return html`<div class="alert" role="alert"><p>${why} ${AS_A_WHOLE}.</p></div>`
}

function invalidRows(errors: RowError[], all: number): Html {
  if (errors.length === 0) return nothing
  const columns = [numberColumn('line', 'Line'), idColumn('reason', 'Reason')]
  return html`<h2>Invalid rows</h2><p>${ofAll(errors.length, all)} invalid rows are shown.</p>
${table(columns, errors, 'Invalid rows')}`
}

function withdrawForm(id: string, role: Role): Html {
  if (role === 'viewer') return nothing
  return html`<h2>Actions</h2><div class="forms">
<form method="post" action="${statementPath(id)}/withdraw"><h3>Withdraw</h3>
<p>Removes its rows. Rows that it had replaced do not come back, and its days are no longer complete because of it.</p>
<button type="submit" class="secondary">Withdraw</button></form></div>`
}
