import t from 'tap'
import { ended, rowsOf, startCsv } from '../support/portfolio/migrate.ts'
import { loansCsv } from '../support/portfolio/rows.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/until.ts'

/** More than a run feeds while none of them ends. */
const WAITING = 1_050

t.test('loans of a lender without a product do not keep back those of other lenders', async t => {
  const service = await startTestService(t, {}, { flags: ['no-product=LENDER_03'] })
  const id = (i: number, of: string) => `${of}-${String(i).padStart(4, '0')}`
  const rows = Array.from({ length: WAITING }, (_, i) => ({
    loan_external_id: id(i, 'L'),
    lender: 'LENDER_03',
  }))
  const others = ['LM-1', ...Array.from({ length: 150 }, (_, i) => id(i, 'M'))].map(loan => ({
    loan_external_id: loan,
    lender: 'LENDER_02',
  }))
  const csv = loansCsv(...rows, ...others)
  const migration_id = await startCsv(service, 'loans', csv)
  const path = `/api/migration/${migration_id}`
  await until(async () => (await service.call('GET', path)).body.done === others.length)
  const states = (await rowsOf(service, migration_id)).map(({ state }) => state)
  t.equal(states.filter(state => state === 'running').length >= 1_000, true)
  t.ok(states.includes('valid'), 'no more of that lender are begun than before')
  t.match((await service.call('POST', `${path}/cancel`)).body, { status: 'cancelled' })
  t.match(await ended(service, migration_id), { done: others.length, failed: 0 })
  t.notOk((await rowsOf(service, migration_id)).some(({ state }) => state === 'running'))
})
