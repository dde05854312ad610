import { sql } from 'kysely'
import t from 'tap'
import { STATEMENT_HEADER } from '../support/books/statements.ts'
import { startDoomedApi } from '../support/doomed-api.ts'
import { uploadInParts } from '../support/http/upload-in-parts.ts'
import { crashPointsIn } from '../support/process.ts'
import { startTestService } from '../support/service.ts'

const row = (id: string) => `${id},1.00,INR,captured,2026-02-05T10:00:00+05:30,,,,,`

t.test('a report whose rows were saved before a process died is in the audit', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const doomed = await startDoomedApi(t, service, 'statement.saved')
  const { promise, resolve } = Promise.withResolvers<void>()
  const url = `${doomed.url}/api/gateways/gateway_a/statement?lender=LENDER_02`
  const parts: [string, string] = [`${STATEMENT_HEADER}\n${row('pay_1')}`, row('pay_2')]
  const uploading = uploadInParts(url, parts, promise).catch(() => undefined)
  await doomed.ended
  resolve()
  await uploading
  t.same(crashPointsIn(doomed.said), ['statement.saved'])
  const { rows } = await sql<object>`
    select s.gateway_payment_id as id, a.actor, a.action, a.detail ->> 'file_name' as file
      from core.statement s join ops.audit a on a.subject = s.statement_id::text`.execute(
    service.db,
  )
  const actor = 'internal-token'
  t.same(rows, [{ id: 'pay_1', actor, action: 'statement.begin', file: 'slow.csv' }])
})
