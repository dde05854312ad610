import { sql } from 'kysely'
import t from 'tap'
import { confirmFeature } from '../../src/books/confirm/confirm-feature.ts'
import { gatewaySandbox, PAID_AT } from '../support/books/gateways.ts'
import { lendersFile } from '../support/config/lenders-file.ts'
import { expireLeases } from '../support/engine/leases.ts'
import { successB } from '../support/payments/gateway-events.ts'
import { paymentService } from '../support/payments/payments.ts'
import { crashPointsIn, startProcessFor } from '../support/process.ts'
import { testEnv } from '../support/service.ts'

t.test(
  'wherever a process dies between a gateway’s answer and the repayment, it is posted once',
  async t => {
    const gateways = await gatewaySandbox(t)
    const LENDERS_FILE = lendersFile(t, { LENDER_07: { gateway_b: { confirm: true } } })
    const settings = { ...gateways.settings, LENDERS_FILE }
    // Takes requests, and works nothing itself.
    const service = await paymentService(t, { ...settings, ROLE: 'api' })
    const env = testEnv(service.databaseUrl, service.ledger.url, settings)
    await service.loan('L-7', { product: 7 })
    await gateways.put('/payments', {
      gateway: 'gateway_b',
      id: '11',
      created_at: PAID_AT,
      notes: { loan_id: 'L-7' },
    })
    for (const id of ['11', '12']) {
      const { data, ...event } = successB({ id, loan: 'L-7' })
      const order = { ...data.order, order_id: `order_${id}` }
      await service.webhook(
        'gateway_b',
        { ...event, data: { ...data, order } },
        { lender: 'LENDER_07' },
      )
    }
    t.match(await service.call('POST', '/api/payments/batch'), { status: 202 })
    const hit: string[] = []
    for (const point of confirmFeature.crashPoints) {
      const doomed = startProcessFor(t, 'worker', { ...env, LOANOPS_CRASH_AT: point })
      await doomed.ended
      hit.push(...crashPointsIn(doomed.said))
      await expireLeases(service.db)
    }
    t.same(hit, [...confirmFeature.crashPoints], 'each of them was passed, and was the end')

    startProcessFor(t, 'worker', env)
    await service.batch()
    t.same(
      (await service.repayments()).map(({ externalId }) => externalId),
      ['gateway_b-11'],
    )
    t.match((await service.payment('12', 'gateway_b')).payment, { reason: 'not_at_gateway' })
    const { rows } = await sql`
      select from core.event where verified_by = 'gateway_api'`.execute(service.db)
    t.equal(rows.length, 1, 'its answer is stored once')
  },
)
