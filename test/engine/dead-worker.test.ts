import { sql } from 'kysely'
import t from 'tap'
import { readConfig } from '../../src/config/config.ts'
import type { Database } from '../../src/database/database.ts'
import { freePort } from '../../src/embedded/free-port.ts'
import { logger } from '../../src/log/log.ts'
import { startRole } from '../../src/role.ts'
import {
  attemptsOf,
  ending,
  enoughToTakeItForDown,
  listed,
  submit,
} from '../support/engine/operations.ts'
import { disbursal, ledgerLoan } from '../support/ledger/loans.ts'
import { startProcessFor } from '../support/process.ts'
import { caller, startTestService, testEnv } from '../support/service.ts'
import { until } from '../support/until.ts'

/** A dead worker's work may be interrupted for 15 s, ten of which are its lease. */
const SEEN_WITHIN_MS = 5_000

t.test(
  'an operation that a dead worker had sent can be seen and resolved while the ledger is down',
  async t => {
    const service = await startTestService(t, { ROLE: 'api' })
    const { call, databaseUrl } = service
    const env = testEnv(databaseUrl, service.ledger.url)
    const doomed = startProcessFor(t, 'worker', { ...env, LOANOPS_CRASH_AT: 'write.answered' })
    const loan = await ledgerLoan(service, 'approved')
    const id = await submit(call, 'LOAN_DISBURSE', disbursal(loan))
    await doomed.ended
    const from = (await leaseEnd(service.db)).getTime()

    const nowhere = `http://127.0.0.1:${await freePort(0)}/fineract-provider/api/v1`
    const config = readConfig({ ...testEnv(databaseUrl, nowhere), ROLE: 'worker' })
    const living = await startRole(config, logger('silent'))
    t.teardown(living.close)
    const readyz = async () => (await caller(living.url)('GET', '/readyz')).body
    await enoughToTakeItForDown(call)
    await until(async () => (await readyz()).ledger?.circuit === 'open')

    const waiting = await until(async () => {
      const item = await listed(call, loan, id)
      // While it is tried again, nobody knows the time of the next try.
      return item.waiting_for !== null && item.next_try_at !== null && item
    })
    t.ok(Date.now() - from < SEEN_WITHIN_MS, `it took ${Date.now() - from} ms`)
    t.match(waiting, { waiting_for: 'outcome_unknown', next_try_at: String, last_error: String })
    t.match(await attemptsOf(service, id), [{ method: null, outcome: 'unknown' }])
    t.ok((await readyz()).ledger.waiting_for.includes('outcome_unknown'))

    const path = `/api/ledger/operations/${encodeURIComponent(id)}/resolve`
    t.equal((await call('POST', path, { outcome: 'failed' })).status, 202)
    t.match(await ending(call, id), { status: 'failed' })
  },
)

async function leaseEnd(db: Database): Promise<Date> {
  const { rows } = await sql<{ until: Date }>`
    select claimed_until as until from loanops.operation where claimed_by is not null`.execute(db)
  return rows[0]?.until as Date
}
