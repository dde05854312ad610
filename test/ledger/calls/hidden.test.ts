import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { startSandbox } from '../../../src/sandbox/server.ts'
import { readBack } from '../../support/books/readback.ts'
import { ending, listed, submit } from '../../support/engine/operations.ts'
import { driver } from '../../support/ledger/ledger-driver.ts'
import { approval, clientData, loanData } from '../../support/ledger/loans.ts'
import { capturedA } from '../../support/payments/gateway-events.ts'
import { paymentService, withLedger } from '../../support/payments/payments.ts'
import { until } from '../../support/until.ts'

const HIDDEN =
  /^the ledger hides it from LoanOps’s user \(LEDGER_USERNAME\), who belongs to another office: /

t.test('a record that the ledger hides from our user is neither absent nor refused', async t => {
  const service = await serviceOfBranch(t)
  const { call } = service
  await service.loan('L-HEAD', { until: 'created' })
  const approving = await submit(call, 'LOAN_APPROVE', approval('L-HEAD'))
  const deleting = await submit(call, 'LOAN_DELETE', { external_loan_id: 'L-HEAD' })
  const applying = await submit(call, 'LOAN_CREATE', loanData('L-NEW', 'C-HEAD'))
  const creating = await submit(call, 'CLIENT_CREATE', clientData('C-BRANCH'))
  t.match(await ending(call, creating), { status: 'success' })

  for (const [loan, id] of [
    ['L-HEAD', approving],
    ['L-NEW', applying],
  ] as const) {
    const shown = await until(async () => {
      const operation = await listed(call, loan, id)
      const isTried = operation.status === 'failed' || operation.last_error !== null
      return isTried && operation
    })
    t.match(shown, { waiting_for: 'ledger_credentials', last_error: HIDDEN }, loan)
  }
  t.match(await listed(call, 'L-HEAD', deleting), { waiting_for: 'predecessor' })

  await service.loan('L-HEAD-2')
  await service.webhook('gateway_a', capturedA({ id: 'pay_1', loan: 'L-HEAD-2' }), {
    lender: 'LENDER_02',
  })
  await call('POST', '/api/payments/batch')
  const payment = await until(async () => {
    const { payment } = await service.payment('pay_1')
    return (payment?.state === 'suspense' || /^ledger/.test(payment?.waiting_for)) && payment
  })
  t.match(payment, { state: 'waiting', waiting_for: 'ledger_credentials' })
})

t.test('a list that may leave something out does not prove that it is absent', async t => {
  const service = await serviceOfBranch(t)
  const { call } = service
  await service.loan('LN/HEAD', { until: 'created' })
  for (const loan of ['LN/HEAD', 'LN/404']) {
    const approving = await submit(call, 'LOAN_APPROVE', approval(loan))
    const shown = await until(async () => {
      const operation = await listed(call, loan, approving)
      return (operation.status === 'failed' || operation.last_error !== null) && operation
    })
    t.match(shown, {
      waiting_for: 'ledger_credentials',
      last_error: /may hide it from LoanOps’s user/,
    })
  }
})

t.test('reading back a hidden loan changes nothing, and counts as failed', async t => {
  const service = await serviceOfBranch(t)
  const { call, db } = service
  await service.loan('L-HEAD')
  const posted = await service.repay('L-HEAD', 'gateway_a-pay_1', {}, 1_000)
  await service.webhook('gateway_a', capturedA({ id: 'pay_1' }), { lender: 'LENDER_02' })
  await service.batch()
  // The payment is as if it had been posted while our user belonged to the head office.
  await sql`
    update core.transaction
       set state = 'posted', reason = null, posted_at = now(), assigned_loan_id = 'L-HEAD',
           ledger_transaction_id = ${posted.body.resourceId}`.execute(db)

  const checked = await call('POST', '/api/payments/gateway_a/pay_1/check')
  t.match(checked, { status: 503, body: { code: 'UNAVAILABLE' } })
  t.match(await readBack(db), { failed: 1, missing: 0, last_error: /hides it from LoanOps’s user/ })
  t.match((await service.payment('pay_1')).payment, { state: 'posted', reason: null })
})

/** Its user at the ledger belongs to a branch; the driver of the ledger belongs to the head office. */
async function serviceOfBranch(t: Test) {
  const ledger = await startSandbox({ port: 0 })
  t.teardown(() => ledger.close())
  const head = driver(ledger.url)
  const office = { name: 'Pune', parentId: 1, openingDate: '01 January 2009' }
  const dates = { dateFormat: 'dd MMMM yyyy', locale: 'en' }
  const { body: branch } = await head.call('POST', '/offices', { ...office, ...dates })
  const { body: role } = await head.call('POST', '/roles', { name: 'Teller', description: 'All' })
  const permissions = { ALL_FUNCTIONS: true }
  await head.call('PUT', `/roles/${role.resourceId}/permissions`, { permissions })
  await head.call('POST', '/users', {
    username: 'teller',
    firstname: 'Asha',
    lastname: 'Rao',
    email: 'teller@example.in',
    officeId: branch.resourceId ?? branch.officeId,
    roles: [role.resourceId],
    sendPasswordToEmail: false,
    password: 'Secret-9Z-teller',
    repeatPassword: 'Secret-9Z-teller',
  })
  await head.call('POST', '/clients', {
    ...{ officeId: 1, legalFormId: 1, active: true, activationDate: '05 January 2026', ...dates },
    ...{ firstname: 'Asha', lastname: 'Rao', externalId: 'C-HEAD' },
  })
  const service = await paymentService(t, {
    LEDGER_URL: ledger.url,
    LEDGER_USERNAME: 'teller',
    LEDGER_PASSWORD: 'Secret-9Z-teller',
    LEDGER_OFFICE_ID: String(branch.resourceId ?? branch.officeId),
  })
  return { ...withLedger({ ...service, ledger }), repay: head.repay }
}
