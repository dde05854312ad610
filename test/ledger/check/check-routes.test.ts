import t from 'tap'
import { ADMIN, bearer, OPERATOR } from '../../support/accounts/admin.ts'
import { lendersFile } from '../../support/config/lenders-file.ts'
import {
  approval,
  clientData,
  disbursal,
  LATER_DAY,
  loanData,
  newName,
} from '../../support/ledger/loans.ts'
import { givenProduct } from '../../support/ledger/products.ts'
import { NO_LEDGER, operate, startTestService } from '../../support/service.ts'

t.test('POST checks the ledger’s set-up now, and GET shows the last check', async t => {
  const flags = ['no-product=LENDER_03', 'block-closed']
  const { call, db } = await startTestService(t, { ROLE: 'api' }, { flags })
  const last = async () => (await call('GET', '/api/ledger/check')).body
  t.same(await last(), { checked_at: null, version: null, findings: [] })

  const { status, body } = await call('POST', '/api/ledger/check')
  t.equal(status, 200)
  const wrong = body.findings.filter(({ state }: any) => ['breaks', 'differs'].includes(state))
  t.match(wrong, [
    {
      check: 'product',
      lender: 'LENDER_03',
      state: 'breaks',
      found: /LENDER_03/,
      remedy: /LENDERS_FILE/,
    },
    { check: 'closed_loans_blocked', lender: null, state: 'differs' },
  ])
  t.same(await last(), body)

  const since = () =>
    db.selectFrom('loanops.ledger_finding').select(['check', 'lender', 'since']).execute()
  const before = await since()
  const again = (await call('POST', '/api/ledger/check')).body
  t.ok(again.checked_at > body.checked_at)
  t.same(await since(), before, 'a state lasts since it was first found')
})

t.test('a product whose loans are disbursed on the expected day alone differs', async t => {
  const service = await startTestService(t, {
    LENDERS_FILE: lendersFile(t, { LENDER_01: {}, LENDER_02: { product: 'Synced' } }),
  })
  const { call } = service
  await givenProduct(service, 'Synced', { syncExpectedWithDisbursementDate: true })
  const { findings } = (await call('POST', '/api/ledger/check')).body
  const differing = findings.filter(({ state }: any) => state === 'differs')
  const remedy = /switch syncExpectedWithDisbursementDate off/
  t.match(differing, [{ check: 'product_limits', lender: 'LENDER_02', found: /Synced/, remedy }])
  t.equal(differing.length, 1)

  const [client, loan] = [newName('C'), newName('L')]
  await operate(call, 'CLIENT_CREATE', clientData(client))
  await operate(call, 'LOAN_CREATE', { ...loanData(loan, client), lenderConfig: 'LENDER_02' })
  await operate(call, 'LOAN_APPROVE', approval(loan))
  const late = { ...disbursal(loan), actualDisbursementDate: LATER_DAY }
  t.match(await operate(call, 'LOAN_DISBURSE', late), { status: 'failed' })
  t.match(await operate(call, 'LOAN_DISBURSE', disbursal(loan)), { status: 'success' })
})

t.test('a ledger that is away is a finding, not an error', async t => {
  const { call } = await startTestService(t, {
    ROLE: 'api',
    LEDGER_URL: NO_LEDGER,
    ADMIN_USERNAME: ADMIN.username,
    ADMIN_PASSWORD: ADMIN.password,
  })
  const { status, body } = await call('POST', '/api/ledger/check')
  t.equal(status, 200)
  const [first, ...rest] = body.findings
  t.match(first, { check: 'reachable', state: 'breaks', remedy: /LEDGER_URL/ })
  t.ok(rest.every(({ state }: any) => state === 'unknown'))

  const admin = await bearer(call, ADMIN)
  await call('POST', '/api/account/register', { ...OPERATOR, role: 'viewer' }, admin)
  const viewer = await bearer(call, OPERATOR)
  const refused = await call('POST', '/api/ledger/check', undefined, viewer)
  t.equal(refused.status, 403, 'a viewer does not start a check')
  t.equal((await call('GET', '/api/ledger/check', undefined, viewer)).body.findings.length, 20)
})
