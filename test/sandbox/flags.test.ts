import t, { type Test } from 'tap'
import { startSandbox } from '../../src/sandbox/server.ts'
import { atLedger, ledgerLoan } from '../support/ledger/loans.ts'

async function start(t: Test, ...flags: string[]) {
  const ledger = await startSandbox({ port: 0, flags })
  t.teardown(() => ledger.close())
  return { ledger }
}

const codeIn = ({ errors, userMessageGlobalisationCode }: any) =>
  errors?.[0]?.userMessageGlobalisationCode ?? userMessageGlobalisationCode

const DAY = '05 January 2026'
const repayment = { transactionDate: DAY, transactionAmount: 60_000, externalId: 'R-1' }
const repaid = (loan: string) => `/loans/external-id/${loan}/transactions?command=repayment`

t.test('an unknown flag, or one without its value, is refused with those that exist', async t => {
  await t.rejects(start(t, 'nothing'), { message: /--flag nothing is none of: .*block-closed/ })
  await t.rejects(start(t, 'office'), { message: /office=branch/ })
})

t.test('with block-closed, a repayment on an overpaid loan is refused', async t => {
  const ledger = await start(t, 'block-closed')
  const loan = await ledgerLoan(ledger, 'disbursed')
  await atLedger(ledger, 'POST', repaid(loan), repayment)
  const again = await atLedger(ledger, 'POST', repaid(loan), { ...repayment, externalId: 'R-2' })
  t.equal(codeIn(again), 'error.msg.loan.transaction.not.allowed.on.closed.or.overpaid')
})

t.test('with pending-409, what waits for a checker is refused the second time', async t => {
  const ledger = await start(t, 'maker-checker=APPROVE_LOAN', 'pending-409')
  const path = `/loans/external-id/${await ledgerLoan(ledger)}?command=approve`
  const approve = () => atLedger(ledger, 'POST', path, { approvedOnDate: DAY })
  t.match(await approve(), { rollbackTransaction: true })
  t.equal(codeIn(await approve()), 'error.msg.maker.checker.duplicate.pending.submission')
})

t.test('a call that waits for a checker takes effect once, when somebody approves it', async t => {
  const ledger = await start(t, 'maker-checker=REPAYMENT_LOAN')
  const loan = await ledgerLoan(ledger, 'disbursed')
  const { commandId } = await atLedger(ledger, 'POST', repaid(loan), repayment)
  const path = `/loans/external-id/${loan}/transactions/external-id/R-1`
  t.equal((await atLedger(ledger, 'GET', path)).amount, undefined, 'nothing is booked yet')
  t.match(await atLedger(ledger, 'GET', '/makercheckers'), [
    { id: commandId, actionName: 'REPAYMENT', entityName: 'LOAN', maker: 'mifos' },
  ])
  const approve = () => atLedger(ledger, 'POST', `/makercheckers/${commandId}?command=approve`)
  t.match(await approve(), { resourceExternalId: 'R-1' })
  t.equal((await atLedger(ledger, 'GET', path)).amount, 60_000)
  t.equal(codeIn(await approve()), 'error.msg.audit.id.invalid')
  t.same(await atLedger(ledger, 'GET', '/makercheckers'), [])
})

t.test('a call that the ledger refuses is not left to a second person', async t => {
  const ledger = await start(t, 'maker-checker=REPAYMENT_LOAN')
  const loan = await ledgerLoan(ledger, 'disbursed')
  const tooLate = { ...repayment, transactionDate: '05 January 2999' }
  const refused = await atLedger(ledger, 'POST', repaid(loan), tooLate)
  t.equal(codeIn(refused), 'error.msg.loan.transaction.cannot.be.a.future.date')
  t.same(await atLedger(ledger, 'GET', '/makercheckers'), [])
  t.match(await atLedger(ledger, 'POST', repaid(loan), repayment), { rollbackTransaction: true })
  const path = `/loans/external-id/${loan}/transactions/external-id/R-1`
  t.equal((await atLedger(ledger, 'GET', path)).amount, undefined, 'the trial leaves nothing')
})

t.test('a call that a second person has rejected cannot be approved', async t => {
  const ledger = await start(t, 'maker-checker=REPAYMENT_LOAN')
  const loan = await ledgerLoan(ledger, 'disbursed')
  const { commandId } = await atLedger(ledger, 'POST', repaid(loan), repayment)
  const rejected = await atLedger(ledger, 'POST', `/makercheckers/${commandId}?command=reject`)
  t.match(rejected, { commandId })
  const approved = await atLedger(ledger, 'POST', `/makercheckers/${commandId}?command=approve`)
  t.equal(codeIn(approved), 'error.msg.audit.id.invalid')
})

t.test('with lost-external-ids, a repayment is not found by its own external id', async t => {
  const ledger = await start(t, 'lost-external-ids')
  const loan = await ledgerLoan(ledger, 'disbursed')
  t.ok((await atLedger(ledger, 'POST', repaid(loan), repayment)).resourceId)
  const path = `/loans/external-id/${loan}/transactions/external-id/R-1`
  const found = await atLedger(ledger, 'GET', path)
  t.equal(codeIn(found), 'error.msg.loan.transaction.external.id.invalid')
})

t.test('with office=branch, the user does not see a client of the head office', async t => {
  const ledger = await start(t, 'office=branch')
  const found = await atLedger(ledger, 'GET', '/clients/external-id/HEAD-1')
  t.equal(codeIn(found), 'error.msg.client.not.found.with.client.id')
})

t.test('flags change products’ terms, or remove a product, payment type or permission', async t => {
  const ledger = await start(
    t,
    'charges=LENDER_02',
    'recalculation=LENDER_04',
    'no-product=LENDER_03',
    'no-payment-type',
    'no-permission=READ_CLIENT',
  )
  t.match(await atLedger(ledger, 'GET', '/loanproducts/2'), {
    graceOnPrincipalPayment: 2,
    charges: [{ amount: 500 }, { amount: 50 }],
  })
  t.match(await atLedger(ledger, 'GET', '/loanproducts/4'), {
    isInterestRecalculationEnabled: true,
  })
  const names = async (path: string) =>
    (await atLedger(ledger, 'GET', path)).map(({ name }: any) => name)
  t.notOk((await names('/loanproducts')).includes('LENDER_03'))
  t.notOk((await names('/paymenttypes')).includes('LoanOps'))
  t.equal(codeIn(await atLedger(ledger, 'GET', '/clients')), 'error.msg.not.authorized')
})
