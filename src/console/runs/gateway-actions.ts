import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { html } from 'hono/html'
import { askForBackfill } from '../../books/backfill/ask-for-backfill.ts'
import { STATEMENT_LIMIT, statementFile } from '../../books/statements/statement-file.ts'
import { uploadStatement } from '../../books/statements/upload-statement.ts'
import { template } from '../../csv/template.ts'
import { csvDownload } from '../../http/csv-download.ts'
import { acceptFiles, takeFileAfter } from '../../http/multipart.ts'
import { invalidField } from '../../http/problem.ts'
import { closed } from '../../http/schemas.ts'
import { answerPage } from '../frame/answer.ts'
import { count } from '../frame/formats.ts'
import { localTime } from '../frame/local-time.ts'
import { donePath } from '../frame/notice.ts'
import { table } from '../lists/table.ts'
import type { PageContext } from '../page-context.ts'
import { askerFor } from '../session/asker-for.ts'

const text = Type.String({ maxLength: 40 })
const backfillSchema = {
  body: Type.Object({ gateway: text, from: text, to: text, lender: Type.Optional(text) }, closed),
}
export function gatewayActions(context: PageContext): FastifyPluginAsyncTypebox {
  const { db, config, portfolio } = context
  const { gateways, lenders, LEDGER_TIMEZONE: timeZone } = config
  return async app => {
    await app.register(acceptFiles)

    app.post('/backfills', { schema: backfillSchema }, async (request, reply) => {
      const { gateway, lender } = request.body
      const at = (field: 'from' | 'to') =>
        localTime(request.body[field], timeZone, field).toISOString()
      const wanted = { from: at('from'), to: at('to'), ...(lender && { lender }) }
      await askForBackfill(context, gateway, wanted, askerFor(request))
      return reply.redirect(donePath('/console/backfills', 'fetching'), 303)
    })

    const long = { onRequest: portfolio.limitLongCalls, config: { takesLong: true } }
    app.post('/statements', long, async (request, reply) => {
      const uploaded = await takeFileAfter(
        request,
        ['gateway', 'lender'],
        STATEMENT_LIMIT,
        (fields, file, fileName) => {
          const { gateway = '', lender = '' } = fields
          if (!gateways.some(({ name }) => name === gateway)) throw unknown('gateway')
          if (!lenders.has(lender)) throw unknown('lender')
          return uploadStatement(db, { gateway, lender, fileName }, file, askerFor(request))
        },
      )
      return answerPage(request, reply, { title: 'Uploaded report', body: resultOf(uploaded) })
    })

    app.get('/statements/template.csv', async (_, reply) =>
      csvDownload(reply, 'statement.csv').send(template(statementFile)),
    )
  }
}

const unknown = (name: string) => invalidField(`/${name}`, 'is not known')

type Uploaded = Awaited<ReturnType<typeof uploadStatement>>

function resultOf(uploaded: Uploaded) {
  const { statement_id, rows, valid_rows, invalid_rows, errors, ignored_columns } = uploaded
  const shown = [
    { name: 'line', title: 'Line', isNumber: true },
    { name: 'reason', title: 'Reason', isId: true },
  ]
  return html`<h1>Uploaded report</h1>
<p class="notice" role="status">Of ${count(rows)} rows, ${count(valid_rows)} are kept and ${count(invalid_rows)} are invalid.</p>
${ignored_columns.length === 0 ? '' : html`<p>Ignored columns: ${ignored_columns.join(', ')}</p>`}
${errors.length === 0 ? '' : table(shown, errors, 'Invalid rows')}
<p><a href="/console/books/statements/${statement_id}">The report</a></p>
<p><a href="/console/backfills">Fetches from gateways</a></p>`
}
