import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { copyConfirmation, copyNetworks } from '../../../src/payments/intake/event-job.ts'
import { fetchAll } from '../../support/books/gateways.ts'
import { listOfB, oddGateway, rowOfB } from '../../support/books/odd-gateway.ts'
import { ALL_DAY, reconciliation } from '../../support/books/reconciliation.ts'
import { lendersFile } from '../../support/config/lenders-file.ts'
import {
  capturedA,
  disputeA,
  drawB,
  refundA,
  refundB,
  signedA,
  signedB,
  successB,
} from '../../support/payments/gateway-events.ts'
import { ownIds, type PaymentService, paymentService } from '../../support/payments/payments.ts'

type Gateway = 'gateway_a' | 'gateway_b'

const SECRETS = { S2: 'secret-of-02', S6: 'secret-of-06' }
const signed = (secretEnv: string, more: object = {}) => {
  const trust = { validateSignature: true, secretEnv, ...more }
  return { gateway_a: trust, gateway_b: trust }
}
const LENDERS = { LENDER_02: signed('S2'), LENDER_06: signed('S6') }

/** LENDER_02 and LENDER_06, each with a secret of its own for both gateways. */
async function twoLenders(t: Test, lenders: object = LENDERS, settings: object = {}) {
  const LENDERS_FILE = lendersFile(t, lenders)
  return withSenders(await paymentService(t, { LENDERS_FILE, ...SECRETS, ...settings }))
}

function withSenders(service: PaymentService) {
  const sent =
    (gateway: Gateway, ofLender: string, secret: string) =>
    (event: object, lender: string | undefined = ofLender) => {
      const body = JSON.stringify(event)
      const headers = gateway === 'gateway_a' ? signedA(secret, body) : signedB(secret, body)
      return service.webhook(
        gateway,
        body,
        lender === 'UNKNOWN' ? { headers } : { lender, headers },
      )
    }
  const by = (lender: string, secret: string) => ({
    a: sent('gateway_a', lender, secret),
    b: sent('gateway_b', lender, secret),
  })
  return {
    ...service,
    two: by('LENDER_02', SECRETS.S2),
    six: by('LENDER_06', SECRETS.S6),
    async fate(id: unknown, gateway: Gateway = 'gateway_a') {
      const { state, reason, objection } = (await service.payment(id, gateway)).payment
      return [state, reason, objection]
    },
    async counts(id: unknown, gateway: Gateway = 'gateway_a') {
      const { events } = await service.payment(id, gateway)
      return Object.fromEntries(events.map((e: any) => [e.verified_by, e.counts]))
    },
    amounts: async (loan: string) => (await service.repayments(loan)).map(({ amount }) => amount),
  }
}

const POSTED = ['posted', null, null]
const SUPERSEDED = { LENDER_02: true, LENDER_06: 'superseded' }
const FEE = { fee: 99_900, tax: 0, fee_bearer: 'customer' }

/** All tests but those that need other settings share this service. */
const service = await twoLenders(t)
const { two, six } = service

/** A payment's id and its loan's, which no other test has; the loan is LENDER_02's. */
async function ownLoan() {
  const ids = ownIds()
  await service.loan(ids.loan)
  return ids
}

/** The same with an id of gateway B, a number. */
let lastNumber = 7_000
async function ownLoanB() {
  const { loan } = await ownLoan()
  lastNumber += 10
  return { id: lastNumber, loan }
}

const ORDERS = { before: [six, two], after: [two, six] }
for (const lender of ['LENDER_06', 'UNKNOWN'])
  for (const order of ['before', 'after'] as const)
    t.test(
      `a fee that ${lender} signs with another secret ${order} the payment is not taken off it`,
      async t => {
        const { id, loan } = await ownLoan()
        for (const from of ORDERS[order])
          await (from === two
            ? two.a(capturedA({ id, loan }))
            : six.a(capturedA({ id, loan, payment: FEE }), lender))
        t.match(await service.batch(), { posted: 1, suspended: 0 })
        t.same(await service.fate(id), POSTED)
        t.same(await service.amounts(loan), ['1000.00'])
        t.same(await service.counts(id), SUPERSEDED)
      },
    )

t.test('a fee that another lender signs is not taken off a payment of gateway B', async t => {
  const { id, loan } = await ownLoanB()
  await two.b(successB({ id, loan }))
  const event: any = successB({ id, loan })
  event.data.order.order_amount = 1
  event.data.payment.payment_surcharge = { payment_surcharge_service_charge: 999 }
  await six.b(event)
  await service.batch()
  t.same(await service.amounts(loan), ['1000.00'])
})

t.test('a reference that another lender signs gives a payment no loan', async t => {
  const { id, loan } = await ownLoan()
  await service.call('PUT', `/api/references/gateway_a/virtual_account/va_${id}`, {
    external_loan_id: loan,
  })
  await two.a(capturedA({ id }))
  const virtual_account = { entity: { id: `va_${id}` } }
  await six.a(capturedA({ id, payload: { virtual_account } }))
  for (const _batch of [1, 2]) {
    await service.batch()
    t.same(await service.fate(id), ['suspense', 'no_loan_named', null])
    t.same(await service.counts(id), SUPERSEDED)
  }
  t.same(await service.repayments(loan), [])
})

t.test('other money that another lender signs keeps no payment from its loan', async t => {
  const { id, loan } = await ownLoan()
  await two.a(capturedA({ id, loan }))
  await six.a(capturedA({ id, loan: 'L-UNKNOWN', amount: 5 }))
  await service.batch()
  t.same(await service.fate(id), POSTED)
  t.same(await service.amounts(loan), ['1000.00'])
})

t.test('a payment is its loan’s lender’s, although another lender signed it first', async t => {
  const { id, loan } = await ownLoan()
  await six.a(capturedA({ id, loan }))
  await service.batch()
  t.same(await service.fate(id), ['suspense', 'signature_not_verified', null])
  await two.a(capturedA({ id, loan, payment: { description: 'EMI' } }))
  await service.batch()
  t.match((await service.payment(id)).payment, { state: 'posted', lender: 'LENDER_02' })
})

t.test('a refund that another lender signs neither holds a payment nor objects to it', async t => {
  const { id, loan } = await ownLoan()
  await two.a(capturedA({ id, loan }))
  await six.a(refundA({ id: `rfnd_${id}`, of: id }))
  await service.batch()
  t.same(await service.fate(id), POSTED)
  await six.a(refundA({ id: `rfnd_2_${id}`, of: id }))
  await service.batch()
  t.same(await service.fate(id), POSTED)
})

for (const when of ['before', 'after'] as const)
  t.test(`a refund ${when} posting counts, though another lender used its id first`, async t => {
    const { id, loan } = await ownLoanB()
    await six.b(refundB({ id: id + 1, of: 1 }))
    await two.b(successB({ id, loan }))
    if (when === 'after') await service.batch()
    await two.b(refundB({ id: id + 1, of: id }))
    await service.batch()
    const held = when === 'after' ? ['posted', null, 'refund'] : ['suspense', 'refund', null]
    t.same(await service.fate(id, 'gateway_b'), held)
    const { payment } = await service.payment(id + 1, 'gateway_b')
    t.match(payment, { kind: 'refund', lender: 'LENDER_02', of_payment_id: String(id) })
  })

for (const when of ['before', 'after'] as const)
  t.test(
    `a refund ${when} the posting counts, although another lender’s own payment has it first`,
    async t => {
      const [{ id, loan }, other] = [await ownLoanB(), await ownLoanB()]
      await service.loan(`${other.loan}-6`, { product: 6 })
      await six.b(successB({ id: other.id, loan: `${other.loan}-6` }))
      await six.b(refundB({ id: id + 1, of: other.id }))
      if (when === 'after') await two.b(successB({ id, loan }))
      await service.batch()
      if (when === 'before') await two.b(successB({ id, loan }))
      await two.b(refundB({ id: id + 1, of: id }))
      await service.batch()
      const held = when === 'after' ? ['posted', null, 'refund'] : ['suspense', 'refund', null]
      t.same(await service.fate(id, 'gateway_b'), held)
      t.same(await service.fate(other.id, 'gateway_b'), ['suspense', 'refund', null])
    },
  )

t.test('the same money on another lender’s own loan keeps no payment from its loan', async t => {
  const { id, loan } = await ownLoanB()
  await service.loan(`${loan}-6`, { product: 6 })
  const debit = { cf_payment_id: String(id + 1), cf_txn_id: String(id), payment_amount: 1000 }
  await six.b(drawB('SUBSCRIPTION_PAYMENT_SUCCESS', debit, { loan_id: `${loan}-6` }))
  await service.batch()
  await two.b(successB({ id, loan }))
  await service.batch()
  t.same(await service.fate(id, 'gateway_b'), POSTED)
  t.same(await service.amounts(loan), ['1000.00'])
})

t.test('the same money on two loans of one lender is still posted once', async t => {
  const { id, loan } = await ownLoanB()
  await service.loan(`${loan}-2`)
  const debit = { cf_payment_id: String(id + 1), cf_txn_id: String(id), payment_amount: 1000 }
  await two.b(drawB('SUBSCRIPTION_PAYMENT_SUCCESS', debit, { loan_id: `${loan}-2` }))
  await service.batch()
  await two.b(successB({ id, loan }))
  await service.batch()
  t.same(await service.fate(id, 'gateway_b'), ['suspense', 'ledger_refused', null])
})

const dispute = (status: string) => (facts: { id: string; loan: string }) =>
  disputeA(status, facts, `disp_${facts.id}`)
const refund =
  (status: string) =>
  ({ id }: { id: string }) =>
    refundA({ id: `rfnd_${id}`, of: id, status })

for (const [name, start, end, held] of [
  ['dispute', dispute('created'), dispute('won'), 'chargeback'],
  ['refund', refund('created'), refund('failed'), 'refund'],
] as const) {
  t.test(`a ${name} that another lender calls off still holds its payment`, async t => {
    const ids = await ownLoan()
    await two.a(capturedA(ids))
    await two.a(start(ids))
    await service.batch()
    t.same(await service.fate(ids.id), ['suspense', held, null])
    await six.a(end(ids))
    await service.batch()
    t.same(await service.fate(ids.id), ['suspense', held, null])
    await two.a(end(ids))
    await service.batch()
    t.same(await service.fate(ids.id), POSTED, 'once its own lender’s events do')
  })

  t.test(`a ${name} that another lender calls off still objects to a posting`, async t => {
    const ids = await ownLoan()
    await two.a(capturedA(ids))
    await service.batch()
    await two.a(start(ids))
    await six.a(end(ids))
    await service.batch()
    t.same(await service.fate(ids.id), ['posted', null, held])
  })
}

t.test('an event that two lenders’ URLs get, each signed for it, is posted at once', async t => {
  const { id, loan } = await ownLoan()
  for (const { a } of [six, two]) await a(capturedA({ id, loan }))
  t.match(await service.batch(), { posted: 1, suspended: 0 })
  for (const { a } of [six, two]) await a(refundA({ id: `rfnd_${id}`, of: id }))
  await service.batch()
  t.same(await service.fate(id), ['posted', null, 'refund'])
})

t.test('a refund counts, though another lender’s payment was booked back with its id', async t => {
  const reversing = await twoLenders(t, {
    ...LENDERS,
    LENDER_06: signed('S6', { reversals: 'automatic' }),
  })
  await reversing.loan('L-1')
  await reversing.loan('L-6', { product: 6 })
  await reversing.six.b(successB({ id: 66, loan: 'L-6' }))
  await reversing.batch()
  await reversing.six.b(refundB({ id: 9, of: 66 }))
  await reversing.two.b(successB({ id: 1, loan: 'L-1' }))
  await reversing.batch()
  t.same(await reversing.fate(66, 'gateway_b'), ['returned', null, null])
  await reversing.two.b(refundB({ id: 9, of: 1 }))
  await reversing.batch()
  t.same(await reversing.fate(1, 'gateway_b'), ['posted', null, 'refund'])
  t.same(await reversing.fate(66, 'gateway_b'), ['returned', null, null])
})

t.test('a fetched payment keeps its amount against what another lender signs', async t => {
  const order_details = { order_id: 'order-1', order_tags: { external_loan_id: 'L-1' } }
  const { settings } = await oddGateway(t, listOfB({ ...rowOfB('1'), order_details }))
  const fetching = await twoLenders(t, LENDERS, settings)
  await fetching.loan('L-1')
  await fetchAll(fetching.call, 'gateway_b', { ...ALL_DAY, lender: 'LENDER_02' })
  const event: any = successB({ id: 1, loan: 'L-1' })
  event.data.order.order_amount = 1
  event.data.payment.payment_surcharge = { payment_surcharge_service_charge: 999 }
  await fetching.six.b(event)
  await fetching.batch()
  t.same(await fetching.fate(1, 'gateway_b'), POSTED)
  t.same(await fetching.amounts('L-1'), ['1000.00'])
})

for (const asked of [{ lender: 'LENDER_02' }, {}])
  t.test(
    `a payment that only another lender signed is posted once it is fetched ${asked.lender ? 'for its own' : 'for all'}`,
    async t => {
      const order_details = { order_id: 'order-1', order_tags: { external_loan_id: 'L-1' } }
      const { settings } = await oddGateway(t, listOfB({ ...rowOfB('1'), order_details }))
      const fetching = await twoLenders(t, LENDERS, settings)
      await fetching.loan('L-1')
      await fetching.six.b(successB({ id: 1, loan: 'L-1' }))
      await fetching.batch()
      t.same(await fetching.fate(1, 'gateway_b'), ['suspense', 'signature_not_verified', null])
      await fetchAll(fetching.call, 'gateway_b', { ...ALL_DAY, ...asked })
      await fetching.batch()
      t.same(await fetching.fate(1, 'gateway_b'), POSTED)
      const { days } = await reconciliation(fetching.call)
      t.match(days, [{ lender: asked.lender ?? 'UNKNOWN', captured: { payments: 1 } }])
    },
  )

t.test('a payment that one lender signed for another’s loan stays held once fetched', async t => {
  const order_details = { order_id: 'order-1', order_tags: { external_loan_id: 'L-1' } }
  const { settings } = await oddGateway(t, listOfB({ ...rowOfB('1'), order_details }))
  const fetching = await twoLenders(t, { LENDER_06: signed('S6') }, settings)
  await fetching.loan('L-1')
  await fetching.six.b(successB({ id: 1, loan: 'L-1' }))
  await fetching.batch()
  for (const asked of [{ lender: 'LENDER_02' }, {}]) {
    await fetchAll(fetching.call, 'gateway_b', { ...ALL_DAY, ...asked })
    await fetching.batch()
    t.same(await fetching.fate(1, 'gateway_b'), ['suspense', 'lender_mismatch', null])
  }
})

t.test('the events of lenders with a secret in common count as each other’s', async t => {
  const S6 = `${SECRETS.S2},${SECRETS.S6}`
  const sharing = await twoLenders(t, LENDERS, { S6 })
  await sharing.loan('L-1')
  await sharing.two.a(capturedA({ loan: 'L-1' }))
  await sharing.six.a(refundA())
  await sharing.batch()
  t.same(await sharing.fate('pay_1'), ['suspense', 'refund', null])
})

t.test('an event that another lender alone signs counts where no check is made', async t => {
  const unchecked = await twoLenders(t, { LENDER_06: signed('S6') })
  await unchecked.loan('L-1')
  await unchecked.six.a(capturedA({ loan: 'L-1' }), 'UNKNOWN')
  await unchecked.batch()
  t.same(await unchecked.fate('pay_1'), POSTED)
  await unchecked.six.a(refundA(), 'UNKNOWN')
  await unchecked.batch()
  t.same(await unchecked.fate('pay_1'), ['posted', null, 'refund'])
})

t.test('a refund that another lender signs counts for one that does not validate', async t => {
  const order_details = { order_id: 'order-1', order_tags: { external_loan_id: 'L-1' } }
  const { settings } = await oddGateway(t, listOfB({ ...rowOfB('1'), order_details }))
  const fetching = await twoLenders(t, { LENDER_06: signed('S6') }, settings)
  await fetching.loan('L-1')
  await fetchAll(fetching.call, 'gateway_b', ALL_DAY)
  await fetching.six.b(successB({ id: 1, loan: 'L-1' }), 'UNKNOWN')
  await fetching.batch()
  t.same(await fetching.fate(1, 'gateway_b'), POSTED)
  await fetching.six.b(refundB({ of: 1 }), 'UNKNOWN')
  await fetching.batch()
  t.same(await fetching.fate(1, 'gateway_b'), ['posted', null, 'refund'])
})

t.test('a refund still counts once the lenders that shared its secret no longer do', async t => {
  const shared = await twoLenders(t, { LENDER_02: signed('S2'), LENDER_06: signed('S2') })
  await shared.loan('L-1')
  await shared.two.a(capturedA({ loan: 'L-1' }))
  const body = JSON.stringify(refundA())
  await shared.webhook('gateway_a', body, {
    lender: 'LENDER_06',
    headers: signedA(SECRETS.S2, body),
  })
  await shared.batch()
  t.same(await shared.fate('pay_1'), ['suspense', 'refund', null])
  await copyConfirmation(shared.db, service.config)
  await shared.two.a(capturedA({ loan: 'L-1', account: 'acc_2' }))
  await shared.batch()
  t.same(await shared.fate('pay_1'), ['suspense', 'refund', null])
})

t.test('a refund that another lender signed counts once the two share a secret', async t => {
  const split = await twoLenders(t)
  const { config } = await twoLenders(t, LENDERS, { S6: `${SECRETS.S2},${SECRETS.S6}` })
  await split.loan('L-1')
  await split.two.a(capturedA({ loan: 'L-1' }))
  await split.six.a(refundA())
  await split.batch()
  t.same(await split.fate('pay_1'), POSTED)
  await copyConfirmation(split.db, config)
  await split.batch()
  t.same(await split.fate('pay_1'), ['posted', null, 'refund'])
  const { rows } = await sql`select from core.event where is_foreign`.execute(split.db)
  t.same(rows, [])
})

t.test('a refund that another lender signed stays ignored while loans are asked again', async t => {
  const split = await twoLenders(t)
  const third = signed('S3', { allowedCidrs: ['10.0.0.0/8'] })
  const { config } = await twoLenders(t, { ...LENDERS, LENDER_03: third }, { S3: 'of-03' })
  await split.loan('L-1')
  await split.two.a(capturedA({ loan: 'L-1' }))
  await split.six.a(refundA())
  await split.batch()
  await copyNetworks(split.db, config)
  await copyConfirmation(split.db, config)
  await split.two.a(capturedA({ loan: 'L-1', account: 'acc_2' }))
  await split.batch()
  t.same(await split.fate('pay_1'), POSTED)
})

t.test('a change for one lender has no payment of others judged again', async t => {
  const split = await twoLenders(t)
  const { config } = await twoLenders(t, { ...LENDERS, LENDER_03: signed('S3') }, { S3: 'of-03' })
  await split.loan('L-1')
  await split.two.a(capturedA({ loan: 'L-1' }))
  await split.six.a(refundA())
  await split.batch()
  await copyConfirmation(split.db, config)
  const { rows } = await sql`select from core.unjudged_payment`.execute(split.db)
  t.same(rows, [])
})

t.test('the gateway’s answer for no lender keeps no refund from its payment', async t => {
  const order_details = { order_id: 'order-1', order_tags: { external_loan_id: 'L-1' } }
  const { settings } = await oddGateway(t, listOfB({ ...rowOfB('1'), order_details }))
  const fetching = await twoLenders(t, LENDERS, settings)
  await fetching.loan('L-1')
  await fetchAll(fetching.call, 'gateway_b', ALL_DAY)
  await fetching.batch()
  t.same(await fetching.fate(1, 'gateway_b'), POSTED)
  await fetching.six.b(refundB({ of: 1 }))
  await fetching.batch()
  t.same(await fetching.fate(1, 'gateway_b'), ['posted', null, 'refund'])
})
