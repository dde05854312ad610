import { sql } from 'kysely'
import t from 'tap'
import { startWithConsole } from '../support/console/console.ts'

t.test(
  'the page of an ended operation without attempts does not say that none was made',
  async t => {
    const { call, db, operator } = await startWithConsole(t, { ROLE: 'api' })
    const { body } = await call('POST', '/api/ledger/operate', {
      status: 'LOAN_DELETE',
      data: { external_loan_id: 'L-1' },
    })
    const page = async () =>
      (await operator(`/console/operations/${encodeURIComponent(body.tracking_id)}`)).text
    t.match(await page(), 'Nothing has been tried at the ledger yet.')
    await sql`
    update loanops.operation
       set status = 'failed', response = '{}', error_message = 'Refused', processed_at = now()`.execute(
      db,
    )
    const ended = await page()
    t.match(ended, 'No attempts at the ledger are on record.')
    t.notMatch(ended, 'Nothing has been tried')
  },
)
