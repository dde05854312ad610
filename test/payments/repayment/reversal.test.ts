import t from 'tap'
import { attemptsOf } from '../../support/engine/operations.ts'
import { matchEach } from '../../support/match-each.ts'
import { REPAY, remainder, repaidLoan, UNDO } from '../../support/payments/repaid-loan.ts'

// Each waits for retries.
t.jobs = 3

t.test('a repayment whose money went back is undone', async t => {
  const service = await repaidLoan(t)
  t.match(await service.ended(await service.reverse()), {
    status: 'success',
    success_response: { resourceExternalId: 'gateway_a-pay_1' },
  })
  t.same(await service.standing(), [])
  t.equal(await service.outstanding(), '12000.00')
})

t.test('the remainder is posted on the same day with the same receipt number', async t => {
  const service = await repaidLoan(t)
  const id = await service.reverse({ remainder: remainder('700.5') })
  t.match(await service.ended(id), {
    status: 'success',
    success_response: { resourceExternalId: 'gateway_a-pay_1-r2' },
  })
  t.same(await service.standing(), ['gateway_a-pay_1-r2 700.50 2024-02-15 pay_1'])
  const attempts = await attemptsOf(service, id)
  matchEach(t, attempts, [{ outcome: 'done' }, { outcome: 'done' }])
  t.equal(new Set(attempts.map(one => one.idempotency_key)).size, 2, 'each write has its own key')
})

t.test('several parts of a repayment are taken back one after another', async t => {
  const service = await repaidLoan(t)
  const of = (amount: string, number: number) => ({
    repayment: remainder(amount, number - 1),
    remainder: remainder(`${Number(amount) - 100}`, number),
  })
  const ids = await service.reverseAll([
    { remainder: remainder('900') },
    of('900', 3),
    of('800', 4),
    { repayment: remainder('700', 4) },
  ])
  for (const id of ids) t.match(await service.ended(id), { status: 'success' })
  t.same(await service.standing(), [])
  t.equal((await service.books()).transactions.filter(one => one.reversed).length, 4)
})

t.test('a lost answer of either write is settled by reading both repayments', async t => {
  const service = await repaidLoan(t)
  const cases = [UNDO, REPAY].flatMap(match => ['drop', 'reset'].map(kind => ({ kind, match })))
  for (const [i, fault] of cases.entries()) {
    const repayment = i === 0 ? remainder('1000', 1) : remainder('700', i + 1)
    await service.faults([{ ...fault, times: 1 }])
    const id = await service.reverse({ repayment, remainder: remainder('700', i + 2) })
    t.match(await service.ended(id), {
      status: 'success',
      success_response: { resourceExternalId: `gateway_a-pay_1-r${i + 2}` },
    })
    t.same(await service.standing(), [`gateway_a-pay_1-r${i + 2} 700.00 2024-02-15 pay_1`])
  }
  const repayments = (await service.books()).transactions.filter(one => one.type === 'repayment')
  t.equal(repayments.length, cases.length + 1, 'nothing was posted twice')
})

t.test('the ledger’s refusal leaves the repayment as it is', async t => {
  const refusals = {
    chargeBack: 'error.msg.loan.transaction.update.not.allowed',
    writeOff: 'error.msg.loan.written.off.update.not.allowed',
  }
  for (const [act, error_code] of Object.entries(refusals)) {
    const service = await repaidLoan(t)
    await service[act as keyof typeof refusals]()
    const id = await service.reverse({ remainder: remainder('700') })
    t.match(await service.ended(id), { status: 'failed', error_code, undone: null })
    t.same(await service.standing(), ['gateway_a-pay_1 1000.00 2024-02-15 pay_1'])
  }
})

t.test('of a loan that recalculates interest, only the last repayment can be undone', async t => {
  const service = await repaidLoan(t, {}, { flags: ['recalculation=LENDER_02'] })
  await service.book('later', 500, '2024-02-16')
  t.match(await service.ended(await service.reverse()), {
    status: 'failed',
    error_message: /cannot be earlier than last transaction date/,
    undone: null,
  })
})

t.test('a repayment that was undone by hand is not reversed', async t => {
  const service = await repaidLoan(t)
  await service.undoByHand()
  for (const left of [null, remainder('700')])
    t.match(await service.ended(await service.reverse({ remainder: left })), {
      status: 'failed',
      error_code: 'loanops.reversal_refused',
      error_message: /gateway_a-pay_1 was undone at the ledger by hand/,
      undone: null,
    })
  t.same(await service.standing(), [])
})

t.test('a repayment that was undone by hand after our lost call is not reversed', async t => {
  const service = await repaidLoan(t)
  await service.faults([{ kind: 'stuck', seconds: 2, match: UNDO, times: 1 }])
  const id = await service.reverse({ remainder: remainder('700') })
  await service.waits(id, 'outcome_unknown')
  await service.undoByHand()
  t.match(await service.ended(id), { status: 'failed', undone: null })
  t.same(await service.standing(), [])
})

t.test('nothing is undone if what is left could not be posted', async t => {
  const service = await repaidLoan(t)
  await service.book('gateway_a-pay_1-r2', 50)
  const reversals = [
    { remainder: remainder('700') },
    { remainder: remainder('700.001', 3) },
    { repayment: { external_id: 'gateway_a-pay_1', amount: '900' } },
    { repayment: { external_id: 'gateway_a-pay_9', amount: '1000' } },
    { external_loan_id: 'L-9' },
  ]
  const messages = [
    /already has a repayment gateway_a-pay_1-r2/,
    /would round 700.001/,
    /gateway_a-pay_1 is 1000 at the ledger, not 900/,
    /no repayment gateway_a-pay_9/,
    /Loan with external identifier L-9 does not exist/,
  ]
  for (const [i, id] of (await service.reverseAll(reversals)).entries())
    t.match(await service.ended(id), { status: 'failed', error_message: messages[i], undone: null })
  t.equal((await service.standing()).length, 2)
})

t.test('two equal reversals of a payment both succeed, and the ledger has one', async t => {
  const service = await repaidLoan(t)
  const twice = { remainder: remainder('700') }
  for (const id of await service.reverseAll([twice, twice]))
    t.match(await service.ended(id), {
      status: 'success',
      success_response: { resourceExternalId: 'gateway_a-pay_1-r2' },
    })
  t.same(await service.standing(), ['gateway_a-pay_1-r2 700.00 2024-02-15 pay_1'])
})
