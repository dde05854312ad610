import t, { type Test } from 'tap'
import { startSandbox } from '../../src/sandbox/server.ts'
import { codes, DATES, driver } from '../support/ledger/ledger-driver.ts'

const PATH = '/loans/external-id/L-1'
const WEEKLY = { loanTermFrequencyType: 1, repaymentFrequencyType: 1 }

async function setup(t: Test, terms: object = {}) {
  const sandbox = await startSandbox({ port: 0 })
  t.teardown(() => sandbox.close())
  const { call, loan } = driver(sandbox.url)
  const body = await loan('L-1', { until: 'created', interestRatePerPeriod: 12, ...terms })
  const update = (changed: object) => call('PUT', PATH, { ...body, ...changed })
  const command = (name: string, fields: object) => call('POST', `${PATH}?command=${name}`, fields)
  const read = async () => (await call('GET', `${PATH}?associations=all`)).body
  return { call, update, command, read }
}

t.test('an update stores the frequency of its rate, and the schedule ignores it', async t => {
  const { update, read } = await setup(t)
  const before = await read()
  const { changes } = (await update({ interestRateFrequencyType: 2 })).body
  t.strictSame(changes, { interestRateFrequencyType: 2, charges: [], locale: 'en' })
  const after = await read()
  t.match(after, { interestRateFrequencyType: { id: 2, value: 'Per month' } })
  t.equal(after.annualInterestRate, 144)
  t.strictSame(after.repaymentSchedule, before.repaymentSchedule)
  const code = 'validation.msg.loan.interestRateFrequencyType'
  const refused = async (id: unknown) => codes(await update({ interestRateFrequencyType: id }))
  t.strictSame(await refused(''), [400, `${code}.cannot.be.blank`])
  t.strictSame(await refused(4), [400, `${code}.is.not.within.expected.range`])
})

t.test('for a weekly loan, only a change to its schedule reports the charges again', async t => {
  const { call, update } = await setup(t, WEEKLY)
  const changesOf = async (changed: object) => (await update(changed)).body.changes
  const days = { submittedOnDate: '2024-01-16', expectedDisbursementDate: '2024-01-16' }
  t.strictSame(await changesOf(days), { ...days, ...DATES })
  const strategy = { transactionProcessingStrategyCode: 'creocore-strategy' }
  t.strictSame(await changesOf({ ...days, ...strategy }), strategy)
  t.strictSame(await changesOf({ ...days, ...strategy, productId: 3 }), { productId: 3 })
  const principal = { ...days, ...strategy, productId: 3, principal: 11_000 }
  t.strictSame(await changesOf(principal), { principal: 11_000, charges: [], locale: 'en' })
  const renamed = await changesOf({ ...principal, externalId: 'L-2' })
  t.strictSame(renamed, { externalId: 'L-2' })
  t.equal((await call('GET', '/loans/external-id/L-2')).status, 200)
})

t.test('charges of a weekly loan stay unless they or its schedule change', async t => {
  const { call, update, read } = await setup(t, WEEKLY)
  const definition = { name: 'Fee', amount: 100, currencyCode: 'INR', chargeAppliesTo: 1 }
  const kind = { chargeTimeType: 2, chargeCalculationType: 1, chargePaymentMode: 0, active: true }
  const charge = await call('POST', '/charges', { ...definition, ...kind, locale: 'en' })
  const sent = { chargeId: charge.body.resourceId, amount: 100, dueDate: '2024-01-29' }
  const added = await update({ charges: [sent] })
  t.match(added.body.changes, { charges: [{ chargeId: sent.chargeId, amount: 100 }] })
  const [kept] = (await read()).charges
  t.strictSame((await update({ charges: [{ ...sent, id: kept.id }] })).body.changes, {})
  t.strictSame((await update({ productId: 3 })).body.changes, { productId: 3 })
  t.match((await read()).charges, [{ id: kept.id, amount: 100 }])
  await update({ productId: 3, principal: 11_000 })
  t.notOk((await read()).charges, 'and disappear when the schedule is rebuilt without them')
})

t.test('an empty principal is refused, and a principal of zero is reported twice', async t => {
  const { update } = await setup(t)
  const code = 'validation.msg.loan.principal'
  for (const principal of ['', null]) {
    t.strictSame(codes(await update({ principal })), [400, `${code}.cannot.be.blank`])
  }
  for (const principal of [0, -5]) {
    t.strictSame(codes(await update({ principal })), [
      400,
      `${code}.not.greater.than.zero`,
      `${code}.amount.is.not.within.min.max.range`,
    ])
  }
})

t.test('a submission date is checked against a loan’s old expected disbursement date', async t => {
  const { update } = await setup(t)
  const late = { submittedOnDate: '2024-01-16', expectedDisbursementDate: undefined }
  const code = 'error.msg.loan.submittal.cannot.be.after.expected.disbursement.date'
  t.strictSame(codes(await update(late)), [403, code])
})

t.test('a schedule left without interest is disbursed unchanged', async t => {
  const { update, command, read } = await setup(t)
  await update({ interestRatePerPeriod: undefined })
  await command('approve', { approvedOnDate: '2024-01-15', ...DATES })
  await command('disburse', { actualDisbursementDate: '2024-01-15', ...DATES })
  t.match(await read(), { interestRatePerPeriod: 12, summary: { interestCharged: 0 } })
  await command('undodisbursal', {})
  await command('disburse', { actualDisbursementDate: '2024-01-16', ...DATES })
  t.ok((await read()).summary.interestCharged > 0, 'another day rebuilds it')
})

t.test('an amount is compared and reported with all the decimals that were sent', async t => {
  const { update, command } = await setup(t)
  const approval = { approvedOnDate: '2024-01-15', ...DATES }
  const over = await command('approve', { ...approval, approvedLoanAmount: 12_000.004 })
  const code = `error.msg.loan.approval.amount.can't.be.greater.than.loan.amount.demanded`
  t.strictSame(codes(over), [403, code])
  t.match((await update({ principal: 13_000.125 })).body, { changes: { principal: 13_000.125 } })
  const approved = await command('approve', { ...approval, approvedLoanAmount: 11_000.125 })
  const changes = { principal: 11_000.125, approvedLoanAmount: 11_000.125 }
  t.match(approved.body, { changes })
})

t.test('undoing an approval of a lower amount reports the requested amount', async t => {
  const { command } = await setup(t)
  const approval = { approvedOnDate: '2024-01-15', ...DATES }
  await command('approve', { ...approval, approvedLoanAmount: 9_000 })
  const { body } = await command('undoapproval', {})
  t.match(body, { changes: { approvedLoanAmount: 12_000, principal: 12_000 } })
  await command('approve', approval)
  t.notOk('principal' in (await command('undoapproval', {})).body.changes)
})

t.test('an update checks the loan type, the client’s state and the strategy', async t => {
  const { call, update } = await setup(t)
  const code = 'validation.msg.loan'
  t.strictSame(codes(await update({ loanType: 'nosuch' })), [
    400,
    `${code}.loanType.is.not.one.of.expected.enumerations`,
  ])
  t.strictSame(codes(await update({ transactionProcessingStrategyCode: '' })), [
    400,
    `${code}.transactionProcessingStrategyCode.cannot.be.blank`,
  ])
  const names = { officeId: 1, legalFormId: 1, firstname: 'A', lastname: 'B', active: false }
  const { clientId } = (await call('POST', '/clients', { ...names, ...DATES })).body
  t.strictSame(codes(await update({ clientId })), [403, 'error.msg.client.not.active.exception'])
})
