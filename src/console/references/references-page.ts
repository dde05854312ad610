import createError from '@fastify/error'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { sql } from 'kysely'
import { operate, read, toDo } from '../../accounts/access/needs.ts'
import { template } from '../../csv/template.ts'
import { acceptFiles } from '../../http/body/multipart.ts'
import { csvDownload } from '../../http/csv-download.ts'
import { closed } from '../../http/fields/schemas.ts'
import { findReferences, matchingReferences } from '../../payments/references/find-references.ts'
import { deleteCall, putCall } from '../../payments/references/reference-calls.ts'
import { referenceFile } from '../../payments/references/reference-file.ts'
import {
  NewReference,
  type Reference,
  ReferenceFilter,
  ReferenceParams,
} from '../../payments/references/reference-record.ts'
import { uploadReferences } from '../../payments/references/upload-references.ts'
import { ofAll } from '../frame/formats.ts'
import { performForm } from '../frame/forms/perform-form.ts'
import { donePath } from '../frame/notice.ts'
import { countUpTo } from '../lists/count.ts'
import type { List } from '../lists/list.ts'
import { listRoutes } from '../lists/list-routes.ts'
import { loanColumn } from '../lists/payment-columns.ts'
import { timeColumn } from '../lists/time-column.ts'
import type { PageContext } from '../page-context.ts'
import { words } from '../text/words.ts'
import { referenceForms } from './reference-forms.ts'

const PATH = '/console/references'
const TEMPLATE = `${PATH}/template.csv`
const addSchema = {
  body: Type.Object(
    { ...NewReference.properties, replace: Type.Optional(Type.Literal('true')) },
    closed,
  ),
}
const removeSchema = { body: Type.Object(ReferenceParams.properties, closed) }
const InvalidRows = createError('INVALID_PAYLOAD', '%s', 400)

export function referencesPage(context: PageContext): FastifyPluginAsyncTypebox {
  const { db, portfolio } = context
  const long = {
    onRequest: portfolio.limitLongCalls,
    config: { ...operate('reference.write'), takesLong: true },
  }
  return async app => {
    await app.register(acceptFiles)
    await app.register(listRoutes(db, referenceList(context)))

    app.get('/references/template.csv', { config: read }, async (_, reply) =>
      csvDownload(reply, 'references.csv').send(template(referenceFile)),
    )

    app.post(
      '/references/add',
      { schema: addSchema, config: toDo(putCall) },
      async (request, reply) => {
        const { replace, ...reference } = request.body
        const asked = { ...reference, replace: replace === 'true' }
        const loan = encodeURIComponent(reference.external_loan_id)
        const done = donePath(`${PATH}?loan=${loan}`, 'referenceAdded')
        return performForm(context, putCall, { asked, reply, done })
      },
    )

    app.post(
      '/references/remove',
      { schema: removeSchema, config: toDo(deleteCall) },
      async (request, reply) => {
        const done = donePath(PATH, 'referenceRemoved')
        return performForm(context, deleteCall, { asked: request.body, reply, done })
      },
    )

    app.post('/references/upload', long, async (request, reply) => {
      const { rows, valid_rows, errors } = await uploadReferences(context, request, TEMPLATE)
      if (errors.length === 0) return reply.redirect(donePath(PATH, 'referencesUploaded'), 303)
      const lines = errors.map(({ line, reason }) => `Line ${line}: ${reason}`)
      throw new InvalidRows(
        [`${ofAll(valid_rows, rows)} rows are registered.`, ...lines].join('\n'),
      )
    })
  }
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
      { name: 'value', title: 'Value', isId: true },
      { name: 'kind', title: 'Kind', cell: row => words(row.kind) },
      { name: 'gateway', title: 'Gateway', cell: row => words(row.gateway) },
      loanColumn,
      { name: 'valid_from', title: 'From' },
      { name: 'valid_until', title: 'Until' },
      { name: 'created_by', title: 'Registered by' },
      timeColumn(formats, 'created_at', 'Registered'),
    ],
    async load(query) {
      const { references, next_cursor } = await findReferences(db, query)
      return { rows: references, next_cursor }
    },
    count: filter =>
      countUpTo(db, sql`select from core.reference where ${matchingReferences(filter)}`),
    below: (filter, role) => (role === 'viewer' ? null : referenceForms(filter)),
  }
}
