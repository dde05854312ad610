import t from 'tap'
import type { LoggedWrite } from '../../../src/sandbox/storage/write-log.ts'
import { expireLeases } from '../../support/engine/leases.ts'
import { control } from '../../support/ledger/loans.ts'
import { remainder, repaidLoan } from '../../support/payments/repaid-loan.ts'
import { crashPointsIn, startProcessFor } from '../../support/process.ts'
import { testEnv } from '../../support/service.ts'

/** Around and between both writes. The first seven deaths are of one reversal, which each next process continues. */
const DEATHS = [
  'write.unsent',
  'write.answered',
  'look.answered',
  'remember.committed',
  'finish.committed',
  'write.unsent',
  'write.answered',
  'finish.committed',
  'remember.committed',
  'claim.committed',
]

t.test('wherever a process dies, parts of a payment go back once and in order', async t => {
  const service = await repaidLoan(t, { ROLE: 'api' })
  const left = (number: number) => remainder(String(1_100 - 100 * number), number)
  const ids = await service.reverseAll(
    [1, 2, 3].map(number => ({ repayment: left(number), remainder: left(number + 1) })),
  )
  const env = testEnv(service.databaseUrl, service.ledger.url)
  const hit: string[] = []
  for (const LOANOPS_CRASH_AT of DEATHS) {
    const doomed = startProcessFor(t, 'worker', { ...env, LOANOPS_CRASH_AT })
    await doomed.ended
    hit.push(...crashPointsIn(doomed.said))
    await expireLeases(service.db)
  }
  t.same(hit, DEATHS)

  startProcessFor(t, 'worker', env)
  for (const id of ids) t.match(await service.ended(id), { status: 'success' })
  t.same(await service.standing(), ['gateway_a-pay_1-r4 700.00 2024-02-15 pay_1'])
  const { log } = await control(service, 'GET', '/log?limit=250000')
  const writes = (log as LoggedWrite[]).filter(one => one.idempotencyKey !== null)
  const pair = ['ADJUST/LOAN', 'REPAYMENT/LOAN']
  t.same(
    writes.map(one => one.command),
    [...pair, ...pair, ...pair],
  )
  t.equal(new Set(writes.map(one => one.idempotencyKey)).size, writes.length)
})
