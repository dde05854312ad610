import { sql } from 'kysely'
import t from 'tap'
import { startWithAccounts } from '../../support/accounts/admin.ts'
import { matchEach } from '../../support/match-each.ts'
import { capturedA } from '../../support/payments/gateway-events.ts'
import { withLedger } from '../../support/payments/payments.ts'

const PATH = '/api/payments/gateway_a/pay_1/note'

t.test('a note is shown in suspense with its author, and audited', async t => {
  const accounts = await startWithAccounts(t, { ROLE: 'all' })
  const { call, db, operator } = accounts
  const service = withLedger(accounts)
  await service.webhook('gateway_a', capturedA(), { lender: 'LENDER_02' })
  await service.batch()
  t.match(await call('POST', PATH, { note: 'asked the lender' }, operator), {
    status: 200,
    body: { gateway_payment_id: 'pay_1', state: 'suspense' },
  })
  const suspended = () =>
    sql`select gateway_payment_id, age_hours, note, noted_by, hints from ops.suspense`.execute(db)
  matchEach(t, (await suspended()).rows, [
    {
      gateway_payment_id: 'pay_1',
      age_hours: '0.0',
      note: 'asked the lender',
      noted_by: 'asha.rao',
    },
  ])
  const { rows } = await sql`
      select actor, subject, detail from ops.audit where action = 'payment.note'`.execute(db)
  matchEach(t, rows, [
    { actor: 'asha.rao', subject: 'gateway_a/pay_1', detail: { note: 'asked the lender' } },
  ])
  for (const body of [{}, { note: '' }, { note: 'x'.repeat(1001) }, { note: 1 }])
    t.match(await call('POST', PATH, body), { status: 400, body: { errors: [{ path: '/note' }] } })
  t.equal((await call('POST', PATH.replace('pay_1', 'pay_2'), { note: 'x' })).status, 404)
  t.equal((await call('POST', PATH.replace('_a', '%00'), { note: 'x' })).status, 400)
})

t.test('the age in suspense counts from its beginning, whatever batches try in vain', async t => {
  const service = withLedger(await startWithAccounts(t, { ROLE: 'all' }))
  const { db } = service
  await service.loan('L-1')
  const age = async () => {
    const { rows } = await sql<{ age: string }>`
      select age_hours as age from ops.suspense where gateway_payment_id = 'pay_1'`.execute(db)
    return rows[0]?.age
  }
  await service.webhook('gateway_a', capturedA({ loan: 'L-none' }), { lender: 'LENDER_02' })
  await service.batch()
  t.equal(await age(), '0.0')
  await sql`
    update core.transaction
     set suspended_at = suspended_at - interval '5 hours', next_try_at = now()`.execute(db)
  await service.batch()
  t.equal(await age(), '5.0', 'it was tried again')
  await service.assign('pay_1', 'L-elsewhere')
  t.equal(await age(), undefined)
  await service.batch()
  t.equal(await age(), '0.0', 'it came back')
})
