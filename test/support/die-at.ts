import { sql } from 'kysely'
import type { Test } from 'tap'
import { readConfig } from '../../src/config.ts'
import type { CrashPoint } from '../../src/crash-point.ts'
import { logger } from '../../src/log.ts'
import { startRole } from '../../src/role.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import { freshDatabase } from './fresh-database.ts'
import { capturedA } from './gateway-events.ts'
import { expireLeases } from './leases.ts'
import { withLedger } from './payments.ts'
import { startProcessFor } from './process.ts'
import { caller, testEnv } from './service.ts'
import { until } from './until.ts'

/** Workers that die, one at each of these places, leave nothing undone and nothing done twice. */
export async function dieAt(t: Test, points: CrashPoint[]): Promise<void> {
  const { url: databaseUrl, db } = await freshDatabase(t)
  const ledger = await startSandbox({ port: 0 })
  const env = testEnv(databaseUrl, ledger.url)
  const config = readConfig({ ...env, ROLE: 'api' })
  const api = await startRole(config, logger('silent'))
  t.teardown(async () => {
    await api.close()
    await ledger.close()
  })
  const call = caller(api.url)
  const service = withLedger({ url: api.url, db, databaseUrl, ledger, config, call })
  await service.loan('L-1')

  let sent = 0
  for (const [i, point] of points.entries()) {
    // A lender of its own each time, so that there is something to discover.
    const lender = `LENDER_0${i + 1}`
    await service.webhook('gateway_a', capturedA({ id: `pay_${++sent}`, loan: 'L-1' }), {
      lender,
    })
    const doomed = startProcessFor(t, 'worker', { ...env, LOANOPS_CRASH_AT: point })
    await call('POST', '/api/payments/batch')
    await doomed.ended
    t.equal(doomed.child.signalCode, 'SIGKILL', `it died at ${point}`)
    await expireLeases(db)
  }
  startProcessFor(t, 'worker', env)
  await call('POST', '/api/payments/batch')
  await until(async () => {
    const { rows } = await sql`
      select from core.transaction where state in ('posted', 'suspense')`.execute(db)
    return rows.length === sent ? true : undefined
  }, 'every payment has its fate')
  await until(async () => {
    const { rows } = await sql`select from core.batch_run where status = 'running'`.execute(db)
    return rows.length === 0 ? true : undefined
  }, 'the batch has ended')
  const booked = await service.repayments()
  // Only one of the lenders is the loan's.
  t.same(
    booked.map(one => one.externalId),
    ['gateway_a-pay_2'],
  )
  const { rows } = await sql<{ reason: string; count: number }>`
    select reason, count(*)::integer as count from core.transaction group by reason order by reason`.execute(
    db,
  )
  t.same(rows, [
    { reason: 'lender_mismatch', count: sent - 1 },
    { reason: null, count: 1 },
  ])
}
