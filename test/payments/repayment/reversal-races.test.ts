import { sql } from 'kysely'
import t from 'tap'
import { holdCommits } from '../../support/database/locks.ts'
import { capturedA } from '../../support/payments/gateway-events.ts'
import { refund, reversing } from '../../support/payments/reversals.ts'
import { until } from '../../support/until.ts'

t.test('a payment has one reversal at a time, whoever starts another meanwhile', async t => {
  const service = await reversing(t)
  await service.signed(capturedA({ loan: 'L-1' }))
  await service.batch()
  // Nothing proves it: only an operator reverses it.
  const unsigned = refund({ id: 'rfnd_unsigned', paise: 40_000 })
  await service.webhook('gateway_a', unsigned, { lender: 'LENDER_02' })
  await service.batch()
  await service.signed(refund({ paise: 30_000 }))
  const started = sql`new.kind = 'refund' and new.state = 'posting'`
  const { batch, late } = await holdCommits(service.db, started, async () => {
    const batch = service.batch()
    await waiting(1)
    const late = service.decide('rfnd_unsigned', 'reverse')
    await waiting(2)
    return { batch, late }
  })
  t.match(await late, { status: 409, body: { detail: /Another reversal of its payment/ } })
  await batch
  t.same(await service.standing(), { 'pay_1-r2': 700 })
  await service.decide('rfnd_unsigned', 'reverse')
  await service.ended('rfnd_unsigned')
  t.same(await service.standing(), { 'pay_1-r3': 300 })
  t.same(await service.shown('pay_1'), ['posted', null, null, '700'])

  /** Waits until so many transactions wait for others. */
  function waiting(count: number) {
    return until(async () => {
      const { rows } = await sql`
        select from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`.execute(service.db)
      return rows.length === count
    }, `${count} transactions wait`)
  }
})
