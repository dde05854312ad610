import { sql } from 'kysely'
import t from 'tap'
import { callbackReceiver } from '../support/callbacks/callback-receiver.ts'
import { ending, submit } from '../support/engine/operations.ts'
import { clientData } from '../support/ledger/loans.ts'
import { matchEach } from '../support/match-each.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/until.ts'

t.test('an unbuildable callback has failed, holds up no other, and can be resent', async t => {
  const receiver = await callbackReceiver(t)
  const { call, db } = await startTestService(t, receiver.settings)
  await ending(call, await submit(call, 'CLIENT_CREATE', clientData('C-1')))
  await receiver.attempts(1)
  // No timestamp can be written for this time.
  await sql`
      insert into loanops.callback (type, subject, about, occurred_at)
      select type, subject, about, 'infinity' from loanops.callback`.execute(db)
  await ending(call, await submit(call, 'CLIENT_CREATE', clientData('C-1')))
  await receiver.attempts(2)
  const failed = await until(async () => {
    const { body } = await call('GET', '/api/callbacks?state=failed')
    return body.callbacks[0]
  }, 'it has failed')
  t.match(failed, { attempts: 0, next_try_at: null, last_error: /cannot be built/ })

  await sql`update loanops.callback set occurred_at = now() where state = 'failed'`.execute(db)
  await call('POST', `/api/callbacks/${failed.callback_id}/resend`)
  await receiver.attempts(3)
  matchEach(
    t,
    receiver.received.map(({ body }) => body),
    [
      { type: 'operation.succeeded', sequence: 1 },
      { type: 'operation.failed', sequence: 2 },
      { type: 'operation.succeeded', sequence: 3 },
    ],
  )
})
