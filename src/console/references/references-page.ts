import createError from '@fastify/error'
import { Type } from '@sinclair/typebox'
import { html } from 'hono/html'
import { sql } from 'kysely'
import { operate, read } from '../../accounts/access/needs.ts'
import { template } from '../../csv/template.ts'
import type { App } from '../../http/app.ts'
import { acceptFiles } from '../../http/body/multipart.ts'
import { csvDownload } from '../../http/csv-download.ts'
import { only } from '../../http/fields/schemas.ts'
import { findReferences, matchingReferences } from '../../payments/references/find-references.ts'
import { deleteCall, putCall } from '../../payments/references/reference-calls.ts'
import { REFERENCE_LIMIT, referenceFile } from '../../payments/references/reference-file.ts'
import {
  NewReference,
  type Reference,
  ReferenceFilter,
  ReferenceParams,
} from '../../payments/references/reference-record.ts'
import { uploadReferences } from '../../payments/references/upload-references.ts'
import { ofAll } from '../frame/formats.ts'
import { formRoutes } from '../frame/forms/form-routes.ts'
import type { Html } from '../frame/html.ts'
import { donePath } from '../frame/notice.ts'
import { countUpTo } from '../lists/count.ts'
import { formFields } from '../lists/filter-form.ts'
import { column, idColumn, type List, loanColumn, timeColumn } from '../lists/list.ts'
import { listRoutes } from '../lists/list-routes.ts'
import type { PageContext } from '../page-context.ts'
import { words } from '../text/words.ts'

const PATH = '/console/references'
const TEMPLATE = `${PATH}/template.csv`
const replace = Type.Optional(Type.Literal('true'))
const addSchema = { body: only({ ...NewReference.properties, replace }) }
const removeSchema = { body: only(ReferenceParams.properties) }
const InvalidRows = createError('INVALID_PAYLOAD', '%s', 400)

export async function referencesPage(app: App, context: PageContext): Promise<void> {
  const { db, portfolio } = context
  const long = {
    onRequest: portfolio.limitLongCalls,
    config: { ...operate('reference.write'), takesLong: true },
  }
  await app.register(acceptFiles)
  listRoutes(app, db, referenceList(context))

  app.get('/references/template.csv', { config: read }, async (_, reply) =>
    csvDownload(reply, 'references.csv').send(template(referenceFile)),
  )

  const form = formRoutes(app, context)
  form('/references/add', addSchema, putCall, {
    asked: ({ body }) => ({ ...body, replace: body.replace === 'true' }),
    done: ({ body: { external_loan_id: loan } }) =>
      donePath(`${PATH}?loan=${encodeURIComponent(loan)}`, 'referenceAdded'),
  })
  form('/references/remove', removeSchema, deleteCall, { done: donePath(PATH, 'referenceRemoved') })

  app.post('/references/upload', long, async (request, reply) => {
    const { rows, valid_rows, errors } = await uploadReferences(context, request, TEMPLATE)
    if (errors.length === 0) return reply.redirect(donePath(PATH, 'referencesUploaded'), 303)
    const lines = errors.map(({ line, reason }) => `Line ${line}: ${reason}`)
    const said = [`${ofAll(valid_rows, rows)} rows are registered.`, ...lines]
    throw new InvalidRows(said.join('\n'))
  })
}

const filters = ReferenceFilter.properties

function referenceList({ db, formats }: PageContext): List<typeof filters, Reference> {
  return {
    path: '/references',
    title: 'References',
    filters,
    cursor: ['uuid'],
    empty:
      'No reference matches. A reference says which loan a virtual account, a mandate or a link belongs to.',
    columns: [
      idColumn('value', 'Value'),
      column('kind', 'Kind', row => words(row.kind)),
      column('gateway', 'Gateway', row => words(row.gateway)),
      loanColumn,
      column('valid_from', 'From'),
      column('valid_until', 'Until'),
      column('created_by', 'Registered by'),
      timeColumn(formats, 'created_at', 'Registered'),
    ],
    load: query => findReferences(db, query),
    count: filter =>
      countUpTo(db, sql`select from core.reference where ${matchingReferences(filter)}`),
    below: referenceForms,
  }
}

const LABELS = { external_loan_id: 'Loan', valid_from: 'First day', valid_until: 'Last day' }

/** @param filter of the list, with whose values the forms begin */
function referenceForms({ loan, ...filter }: ReferenceFilter): Html {
  const values = { ...filter, external_loan_id: loan }
  return html`<h2>Actions</h2><div class="forms">
<form method="post" action="/console/references/add"><h3>Register</h3>${formFields(NewReference.properties, values, LABELS)}
<label><input type="checkbox" name="replace" value="true"> end another loan’s reference the day before</label>
<p><small>The next batch matches what waits for it.</small></p>
<button type="submit">Register</button></form>
<form method="post" action="/console/references/remove"><h3>Remove</h3>${formFields(ReferenceParams.properties, values)}
<p><small>With all its periods. What was posted or decided stays.</small></p>
<button type="submit" class="secondary">Remove</button></form>
<form method="post" action="/console/references/upload" enctype="multipart/form-data" data-upload><h3>Upload a file</h3>
<label>File <input type="file" name="file" accept=".csv,text/csv" required></label>
<p><small>CSV with a header row, at most ${REFERENCE_LIMIT.text}: <a href="/console/references/template.csv" download>template</a>. Valid rows are registered.</small></p>
<progress hidden aria-label="Sent"></progress><p role="status"></p>
<button type="submit">Upload</button></form></div>`
}
