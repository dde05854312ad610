import t, { type Test } from 'tap'
import { startSandbox } from '../../../src/sandbox/server.ts'
import { lendersFile } from '../../support/config/lenders-file.ts'
import { ending, hurry, listed, submit } from '../../support/engine/operations.ts'
import {
  atLedger,
  clientData,
  disbursal,
  ledgerLoan,
  loanData,
  newName,
} from '../../support/ledger/loans.ts'
import { ledgerBody } from '../../support/ledger/proxy.ts'
import { throughProxy } from '../../support/ledger/through-proxy.ts'
import { capturedA } from '../../support/payments/gateway-events.ts'
import { paymentService, withLedger } from '../../support/payments/payments.ts'
import { startTestService, type TestService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

t.test('an unknown office keeps a client waiting, and not once it exists', async t => {
  const service = await startTestService(t, { LEDGER_OFFICE_ID: '2' })
  const id = await submit(service.call, 'CLIENT_CREATE', clientData('C-1'))
  await waitsFor(t, service, 'C-1', id, /^LEDGER_OFFICE_ID is wrong: /)
  const office = { name: 'Pune', parentId: 1, openingDate: '01 January 2009' }
  await atLedger(service, 'POST', '/offices', office)
  await hurry(service, id)
  t.match(await ending(service.call, id), { status: 'success', success_response: { officeId: 2 } })
})

t.test('a product that the ledger does not have keeps an application waiting', async t => {
  const lenders = { LENDER_01: { product: 'Gold' } }
  const service = await startTestService(t, { LENDERS_FILE: lendersFile(t, lenders) })
  await ending(service.call, await submit(service.call, 'CLIENT_CREATE', clientData('C-1')))
  const id = await submit(service.call, 'LOAN_CREATE', loanData('L-1', 'C-1'))
  const error =
    'the ledger has no loan product Gold for LENDER_01: create it there, or name another one as product of LENDER_01 in LENDERS_FILE'
  await waitsFor(t, service, 'L-1', id, error)
})

const REFUSED = [
  {
    what: 'a product that is gone',
    code: 'error.msg.loanproduct.id.invalid',
    error: 'the lender’s product (LENDERS_FILE) is wrong: No, because of a rule.',
    async submit({ call }: TestService) {
      const client = newName('C')
      const loan = newName('L')
      await ending(call, await submit(call, 'CLIENT_CREATE', clientData(client)))
      return { loan, send: () => submit(call, 'LOAN_CREATE', loanData(loan, client)) }
    },
  },
  {
    what: 'a payment type that is gone',
    code: 'error.msg.payment.type.invalid',
    error: 'LEDGER_PAYMENT_TYPE is wrong: No, because of a rule.',
    async submit(service: TestService) {
      const loan = await ledgerLoan(service, 'approved')
      const data = { ...disbursal(loan), utr_payment_id: 'UTR1' }
      return { loan, send: () => submit(service.call, 'LOAN_DISBURSE', data) }
    },
  },
]

for (const { what, code, error, submit } of REFUSED)
  t.test(`${what} keeps what needs it waiting, then it is tried under another key`, async t => {
    const { proxy, service } = await throughProxy(t)
    const { loan, send } = await submit(service)
    const body = ledgerBody(404, code)
    proxy.interferences = [{ of: loan, on: 'writes', status: 404, body, times: 1 }]
    const id = await send()
    await waitsFor(t, service, loan, id, error)
    await hurry(service, id)
    t.match(await ending(service.call, id), { status: 'success' })
    const { body: operation } = await service.call(
      'GET',
      `/api/ledger/operations/${encodeURIComponent(id)}`,
    )
    t.match(operation.attempts, [{ http_status: 404 }, { http_status: 200 }])
  })

t.test('a payment of today waits while its day is in the future for the ledger', async t => {
  const behind = await startSandbox({ port: 0, timeZone: 'Etc/GMT+12' })
  t.teardown(() => behind.close())
  const started = await paymentService(t, { LEDGER_URL: behind.url, LEDGER_TIMEZONE: 'Etc/GMT-14' })
  const service = withLedger({ ...started, ledger: behind })
  await service.loan('L-1')
  await service.webhook(
    'gateway_a',
    capturedA({ loan: 'L-1', payment: { created_at: Math.floor(Date.now() / 1_000) } }),
    { lender: 'LENDER_02' },
  )
  await service.call('POST', '/api/payments/batch')
  const payment = await until(async () => {
    const found = await service.payment('pay_1')
    const isTried =
      found.payment?.state === 'suspense' || /^ledger/.test(found.payment?.waiting_for)
    return isTried && found.payment
  })
  t.match(payment, { state: 'waiting', waiting_for: 'ledger_credentials' })
})

async function waitsFor(
  t: Test,
  { call }: TestService,
  name: string,
  id: string,
  error: string | RegExp,
): Promise<void> {
  const shown = await until(async () => {
    const operation = await listed(call, name, id)
    return (operation?.waiting_for !== null || operation.status !== 'processing') && operation
  })
  t.match(shown, { waiting_for: 'ledger_credentials', last_error: error, next_try_at: String })
}
