import { sql } from 'kysely'
import t from 'tap'
import { readbackRun, requestReadback, serviceWithPosted } from '../support/books/readback.ts'
import { until } from '../support/until.ts'

// Each waits for a worker that looks every two seconds.
t.jobs = 4

const LOANS = { on: 'reads', path: '^/loans' }

for (const [name, tries, rules] of [
  ['answers nothing but errors', 5, [{ kind: 'error', status: 503, match: { on: 'reads' } }]],
  // A wrong password is not sent again and again.
  ['refuses our credentials', 2, [{ kind: 'unauthorized', match: { on: 'reads' } }]],
  ['closes every connection', 5, [{ kind: 'reset', match: { on: 'reads' } }]],
] as const)
  t.test(`while the ledger ${name}, a run waits and decides nothing`, async t => {
    const service = await serviceWithPosted(t, ['pay_1', 'pay_2'])
    await service.undo('gateway_a-pay_1')
    await service.faults([...rules])
    const answers = async () => (await service.books()).counters.faults
    const run = await requestReadback(service.db)
    await until(
      async () => Object.values(await answers()).some(times => times >= tries),
      'it has been tried a few times',
    )
    t.match(await readbackRun(service.db, run), { status: 'running', loans: 0, failed: 0 })
    t.match(await service.stateOf('pay_1'), { state: 'posted' })
    await service.faults([])
    // Has the login tested now.
    await service.call('POST', '/api/ledger/check')
    await until(
      async () => (await readbackRun(service.db, run)).status === 'completed',
      'the run ends',
    )
    t.match(await readbackRun(service.db, run), { loans: 1, payments: 2, reversed: 1, failed: 0 })
  })

t.test('a loan that alone cannot be read counts as failed, and the others are read', async t => {
  const service = await serviceWithPosted(t, ['pay_1'])
  await service.loan('L-2')
  await service.send('pay_2', 'L-2')
  await service.batch()
  await service.undo('gateway_a-pay_1')
  await service.faults([{ kind: 'error', status: 500, match: { ...LOANS, externalId: 'L-1' } }])
  t.match(await service.readBack(), { loans: 1, payments: 1, failed: 1, last_error: /^L-1: / })
  t.match(await service.stateOf('pay_1'), { state: 'posted', objection: null })
  const { rows } = await sql<{ id: string }>`
    select gateway_payment_id as id from core.transaction
     where read_back_at is null`.execute(service.db)
  t.same(rows, [{ id: 'pay_1' }])
})
