import { sql } from 'kysely'
import t from 'tap'
import { freePort } from '../../src/embedded/free-port.ts'
import { capturedA } from '../support/gateway-events.ts'
import { allSaved, paymentService, webhooks } from '../support/payments.ts'
import { startProcessFor } from '../support/process.ts'
import { testEnv } from '../support/service.ts'
import { until } from '../support/until.ts'

t.test(
  'an api that dies before its answer has kept the event; sent again, it is one payment',
  async t => {
    const service = await paymentService(t)
    await service.loan('L-1')
    const port = String(await freePort(0))
    const env = testEnv(service.databaseUrl, service.ledger.url, {
      PORT: port,
      LOANOPS_CRASH_AT: 'webhook.committed',
    })
    const doomed = startProcessFor(t, 'api', env)
    const url = `http://127.0.0.1:${port}`
    await until(() => fetch(`${url}/healthz`).catch(() => undefined), 'it is up')
    const event = capturedA({ loan: 'L-1' })
    await t.rejects(webhooks(url)('gateway_a', event, { lender: 'LENDER_02' }), 'no answer came')
    await doomed.ended
    t.equal(doomed.child.signalCode, 'SIGKILL')

    const again = await service.webhook('gateway_a', event, { lender: 'LENDER_02' })
    t.equal(again.status, 200)
    await allSaved(service.db)
    const { rows } = await sql`select from raw.lender_02_gateway_a`.execute(service.db)
    t.equal(rows.length, 1)
    await service.batch()
    t.equal((await service.repayments()).length, 1)
  },
)
