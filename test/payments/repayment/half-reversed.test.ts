import t, { type Test } from 'tap'
import { attemptsOf, delay, hurry, isPauseNoticed } from '../../support/engine/operations.ts'
import { atLedger, control, writesOn } from '../../support/ledger/loans.ts'
import { type Interference, ledgerBody, startProxy } from '../../support/ledger/proxy.ts'
import { capturedA } from '../../support/payments/gateway-events.ts'
import { REPAY, remainder, repaidLoan } from '../../support/payments/repaid-loan.ts'
import type { Preparation } from '../../support/service.ts'
import { until } from '../../support/until.ts'

// Each waits for retries.
t.jobs = 3

const LEFT = 'gateway_a-pay_1-r2 700.00 2024-02-15 pay_1'

/** The repayment is undone, and the ledger does not take what is left of it until `faults([])`. */
async function halfReversed(t: Test, changes: NodeJS.ProcessEnv = {}) {
  const service = await repaidLoan(t, changes)
  await service.faults([{ kind: 'tooMany', match: REPAY }])
  const id = await service.reverse({ remainder: remainder('700') })
  await service.waits(id, 'outcome_unknown')
  t.same(await service.standing(), [])
  const path = `/api/ledger/operations/${encodeURIComponent(id)}`
  return { ...service, id, path }
}

t.test('no other write on the loan comes between the two of a reversal', async t => {
  const service = await halfReversed(t)
  await service.webhook('gateway_a', capturedA({ id: 'pay_2', loan: 'L-1' }), {
    lender: 'LENDER_02',
  })
  t.match(await service.batch(), { status: 'completed', posted: 0 })
  t.match((await service.payment('pay_2')).payment, { waiting_for: 'predecessor' })
  await service.faults([])
  t.match(await service.ended(service.id), { status: 'success' })
  await until(async () => (await service.payment('pay_2')).payment.state === 'posted')
  t.same(await service.standing(), [LEFT, 'gateway_a-pay_2 1000.00 2026-02-05 pay_2'])
})

t.test('a half-done reversal does not fail past its deadline', async t => {
  const service = await halfReversed(t, { OPERATION_DEADLINE_SECONDS: '1' })
  await until(async () => (await attemptsOf(service, service.id)).length >= 3)
  await service.faults([])
  t.match(await service.ended(service.id), { status: 'success' })
  t.same(await service.standing(), [LEFT])
})

t.test('a pause holds back the second write of a reversal', async t => {
  const service = await halfReversed(t)
  await service.call('POST', '/api/ledger/pause', { reason: 'test' })
  await until(() => isPauseNoticed(service))
  await service.faults([])
  await hurry(service, service.id)
  const attempts = (await attemptsOf(service, service.id)).length
  const { body } = await service.call('GET', service.path)
  t.match(body, { status: 'processing' })
  t.same(await service.standing(), [])
  await service.call('POST', '/api/ledger/resume')
  t.match(await service.ended(service.id), { status: 'success' })
  t.same(await service.standing(), [LEFT])
  t.equal((await attemptsOf(service, service.id)).length, attempts + 1)
})

t.test(
  'a reversal that an operator ends between its two writes names the repayment that it undid',
  async t => {
    const service = await halfReversed(t)
    t.match(await service.call('POST', `${service.path}/resolve`, { outcome: 'failed' }), {
      status: 202,
    })
    const { undone, ...record } = await service.ended(service.id)
    t.match(record, { status: 'failed', error_code: 'loanops.resolved.by.operator' })
    t.equal(undone, await undoneTransaction(service))
  },
)

t.test('a reversal whose second write the ledger refuses names the repayment it undid', async t => {
  const service = await halfReversed(t)
  await delay(service, 'loan:L-1')
  await service.faults([])
  await service.book('gateway_a-pay_1-r2', 50)
  await hurry(service, service.id)
  const { undone, ...record } = await service.ended(service.id)
  t.match(record, { status: 'failed', error_message: /must\.be\.unique/ })
  t.equal(undone, await undoneTransaction(service))
})

t.test('a remainder that a person books between the two writes is not booked again', async t => {
  const service = await halfReversed(t)
  await delay(service, 'loan:L-1')
  await service.faults([])
  await service.book('', 650, '2024-02-16')
  await hurry(service, service.id)
  const { undone, ...record } = await service.ended(service.id)
  t.match(record, { status: 'failed', error_message: /another repayment with the receipt number/ })
  t.equal(undone, await undoneTransaction(service))
  t.same(await service.standing(), [' 650.00 2024-02-16 pay_1'])
})

async function undoneTransaction({ books }: Awaited<ReturnType<typeof repaidLoan>>) {
  return String((await books()).transactions.find(one => one.reversed)?.id)
}

t.test('a ledger whose clock is behind ends no reversal', async t => {
  const service = await repaidLoan(t)
  await control(service, 'PUT', '/business-date', { date: '2024-02-14' })
  const id = await service.reverse({ remainder: remainder('700') })
  await service.waits(id, 'ledger_credentials')
  t.match((await service.call('GET', `/api/ledger/operations/${encodeURIComponent(id)}`)).body, {
    last_error: /LEDGER_TIMEZONE/,
  })
  await control(service, 'PUT', '/business-date', { date: null })
  await hurry(service, id)
  t.match(await service.ended(id), { status: 'success' })
  t.same(await service.standing(), [LEFT])
})

t.test('each write of a reversal may wait for a second person at the ledger', async t => {
  const flags = ['maker-checker=ADJUST_LOAN', 'maker-checker=REPAYMENT_LOAN']
  const service = await repaidLoan(t, {}, { flags })
  const approve = async (actionName: string) => {
    const list = () => atLedger(service, 'GET', '/makercheckers')
    const { id } = await until(async () =>
      (await list()).find((one: { actionName: string }) => one.actionName === actionName),
    )
    await atLedger(service, 'POST', `/makercheckers/${id}?command=approve`)
  }
  await approve('REPAYMENT')
  const id = await service.reverse({ remainder: remainder('700') })
  await service.waits(id, 'ledger_approval')
  await approve('ADJUST')
  await hurry(service, id)
  await approve('REPAYMENT')
  await delay(service, 'loan:L-1')
  await hurry(service, id)
  t.match(await service.ended(id), { status: 'success' })
  t.same(await service.standing(), [LEFT])
  t.equal((await writesOn(service, 'L-1')).filter(one => one.startsWith('ADJUST')).length, 1)
})

/** A repaid loan behind a proxy. */
async function repaidThroughProxy(t: Test) {
  const proxy = await startProxy(t)
  const atLedger: Preparation['atLedger'] = async ({ ledger }) => {
    proxy.target = ledger.url
  }
  return { proxy, ...(await repaidLoan(t, { LEDGER_URL: proxy.url }, { atLedger })) }
}

t.test('a repayment that a lagging read shows as standing is not undone twice', async t => {
  const { proxy, ...service } = await repaidThroughProxy(t)
  const alters = ({ body }: { body: Record<string, unknown> }) => {
    delete body.reversedOnDate
    delete body.reversalExternalId
  }
  proxy.interferences = [{ of: 'external-id/gateway_a-pay_1', on: 'reads', alters }]
  const id = await service.reverse({ remainder: remainder('700') })
  t.match(await service.ended(id), { status: 'success' })
  t.same(await service.standing(), [LEFT])
})

t.test('writes of a reversal that came twice end none, though reads lag behind them', t =>
  cameTwice(t),
)

t.test('the same holds for the code of a newer ledger, which lists more kinds', t =>
  cameTwice(t, ({ body }) => {
    const [error] = body.errors ?? []
    const more = 'creditbalancerefund.or.capitalizedIncome.or.buyDownFee.'
    if (error)
      error.userMessageGlobalisationCode = error.userMessageGlobalisationCode.replace(
        'creditbalancerefund.',
        more,
      )
  }),
)

async function cameTwice(t: Test, alters?: Interference['alters']) {
  const { proxy, ...service } = await repaidThroughProxy(t)
  const transaction = (externalId: string) =>
    `/loans/external-id/L-1/transactions/external-id/${externalId}`
  const standing = await atLedger(service, 'GET', transaction('gateway_a-pay_1'))
  const none = ledgerBody(404, 'error.msg.loan.transaction.external.id.invalid')
  const twice = { on: 'writes', isTwice: true, dropsKey: true, times: 1 } as const
  proxy.interferences = [
    { of: 'command=undo', ...twice, ...(alters && { alters }) },
    { of: 'command=repayment', ...twice },
    { of: 'gateway_a-pay_1 ', on: 'reads', status: 200, body: standing, times: 3 },
    { of: 'gateway_a-pay_1-r2', on: 'reads', status: 404, body: none, times: 6 },
  ]
  const id = await service.reverse({ remainder: remainder('700') })
  t.match(await service.ended(id), { status: 'success' })
  t.same(await service.standing(), [LEFT])
}
