import { sql } from 'kysely'
import t from 'tap'
import { untilSessionsWait } from '../support/database/sessions.ts'
import { uploadCsv } from '../support/portfolio/migrate.ts'
import { repaymentsCsv } from '../support/portfolio/rows.ts'
import { startTestService } from '../support/service.ts'

t.test('a row that fails while a retry resets the others is still counted', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const { db, call } = service
  const csv = repaymentsCsv({}, { payment_reference: 'p-2' }, { payment_reference: 'p-3' })
  const { migration_id: id } = (await uploadCsv(service, 'repayments', csv)).body
  const setRow = (line: number, state: string) => sql`
    update loanops.migration_row set state = ${state} where migration_id = ${id} and line = ${line}`
  await setRow(2, 'failed').execute(db)
  await setRow(3, 'stopped').execute(db)
  await setRow(4, 'running').execute(db)
  await sql`
    update loanops.migration set status = 'cancelled', failed = 1, stopped = 1
     where id = ${id}`.execute(db)

  const retried = await db.transaction().execute(async trx => {
    await setRow(4, 'failed').execute(trx)
    await sql`update loanops.migration set failed = failed + 1 where id = ${id}`.execute(trx)
    const answer = call('POST', `/api/migration/${id}/retry`)
    await untilSessionsWait(db)
    return { answer }
  })
  t.equal((await retried.answer).status, 202)
  const { body } = await call('GET', `/api/migration/${id}`)
  t.match(body, { status: 'running', failed: 1, stopped: 0 })
})
