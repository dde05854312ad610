import { Type } from '@sinclair/typebox'
import { askerOf } from '../../accounts/access/actor.ts'
import { operate, read, toOperate } from '../../accounts/access/needs.ts'
import { requestBackfillNow } from '../../books/backfill/request-backfill-now.ts'
import { STATEMENT_LIMIT, statementFile } from '../../books/statements/statement-file.ts'
import { uploadStatement } from '../../books/statements/upload-statement.ts'
import { template } from '../../csv/template.ts'
import type { App } from '../../http/app.ts'
import { acceptFiles, takeFile } from '../../http/body/multipart.ts'
import { csvDownload } from '../../http/csv-download.ts'
import { only } from '../../http/fields/schemas.ts'
import { invalidField } from '../../http/problem.ts'
import { donePath } from '../frame/notice.ts'
import { statementPath } from '../frame/paths.ts'
import type { PageContext } from '../page-context.ts'
import { localTime } from '../text/local-time.ts'

const TEMPLATE = '/statements/template.csv'
const text = Type.String({ maxLength: 40 })
const backfillSchema = {
  body: only({ gateway: text, from: text, to: text, lender: Type.Optional(text) }),
}
export async function gatewayActions(app: App, context: PageContext): Promise<void> {
  const { db, config, portfolio, fileTypes } = context
  const { gateways, lenders, LEDGER_TIMEZONE: timeZone } = config
  const place = { gateways, others: fileTypes.portfolio, templateUrl: `/console${TEMPLATE}` }
  await app.register(acceptFiles)

  app.post('/backfills', toOperate(backfillSchema), async (request, reply) => {
    const { gateway, lender } = request.body
    const at = (field: 'from' | 'to') =>
      localTime(request.body[field], timeZone, field).toISOString()
    const wanted = { from: at('from'), to: at('to'), ...(lender && { lender }) }
    await requestBackfillNow(context, gateway, wanted, askerOf(request))
    return reply.redirect(donePath('/console/backfills', 'fetching'), 303)
  })

  const long = { onRequest: portfolio.limitLongCalls, config: { ...operate(), takesLong: true } }
  app.post('/statements', long, async (request, reply) => {
    const { statement_id } = await takeFile(
      request,
      ['gateway', 'lender'],
      STATEMENT_LIMIT,
      (file, { gateway = '', lender = '' }) => {
        if (!gateways.some(({ name }) => name === gateway)) throw unknown('gateway')
        if (!lenders.has(lender)) throw unknown('lender')
        return uploadStatement(db, { ...place, gateway, lender }, file, askerOf(request))
      },
    )
    return reply.redirect(donePath(statementPath(statement_id), 'uploaded'), 303)
  })

  app.get(TEMPLATE, { config: read }, async (_, reply) =>
    csvDownload(reply, 'statement.csv').send(template(statementFile)),
  )
}

const unknown = (name: string) => invalidField(`/${name}`, 'is not known')
