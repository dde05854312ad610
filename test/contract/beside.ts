import type { Test } from 'tap'
import { ADMIN } from '../support/accounts/admin.ts'
import { capturedA, PAID_AT_ISO, signedA, successB } from '../support/payments/gateway-events.ts'
import { runBatch, webhooks } from '../support/payments/payments.ts'
import { ended, errorsOf, textOf, uploadCsv } from '../support/portfolio/migrate.ts'
import { loansCsv } from '../support/portfolio/rows.ts'
import { approvalOf, clientOf, disbursalOf, type Los, loanOf, SECRET } from './los.ts'

const of = encodeURIComponent

/** Everything but operations. */
export async function beside(t: Test, los: Los) {
  await givenLoan(los)
  await events(t, los)
  await payments(t, los)
  await decisions(t, los)
  await portfolios(t, los)
  await accounts(t, los)
  for (const [path, status] of [
    ['/healthz', 200],
    ['/readyz', 200],
    ['/metrics', 200],
  ] as const)
    t.equal((await fetch(los.url + path)).status, status, `${path} needs no token`)
}

async function givenLoan({ run, id }: Los) {
  const loan = id('L-paid')
  await run('CLIENT_CREATE', clientOf(id('C-paid')))
  await run('LOAN_CREATE', { ...loanOf(loan, id('C-paid')), lenderConfig: 'LENDER_02' })
  await run('LOAN_APPROVE', approvalOf(loan))
  await run('LOAN_DISBURSE', disbursalOf(loan))
}

/** The id of a payment, which may have no slash, but differs between the two LOS. */
const payment = ({ id }: Los, name: string) => `${id('').length}_${name}`

function send(los: Los, name: string, more: object = {}) {
  const event = JSON.stringify(capturedA({ id: payment(los, name), ...more }))
  const headers = signedA(SECRET, event)
  return webhooks(los.url)('gateway_a', event, { lender: 'LENDER_02', headers })
}

async function events(t: Test, los: Los) {
  const post = webhooks(los.url)
  const posted = await send(los, 'posted', { loan: los.id('L-paid') })
  t.match(posted, { status: 200, body: { received: true } }, 'an event is 200 {received: true}')
  const unwanted = JSON.stringify({ event: 'settlement.processed' })
  const ignored = await post('gateway_a', unwanted, { headers: signedA(SECRET, unwanted) })
  t.equal(ignored.status, 200, 'even one that we do not want')
  const forged = await post('gateway_a', capturedA({}), { lender: 'LENDER_02' })
  t.match(forged, { status: 401, body: { code: 'INVALID_SIGNATURE' } }, 'no signature is 401')
  const unsigned = await post('gateway_b', successB({ id: payment(los, '1') }), {
    lender: 'LENDER_07',
  })
  t.equal(unsigned.status, 200, 'gateway B’s signature is not verified by default')
  for (const text of ['[]', '7', '{', ''])
    t.equal((await post('gateway_b', text)).status, 400, `400 if not a JSON object: ${text}`)
  const large = await post('gateway_b', JSON.stringify({ x: 'x'.repeat(1024 * 1024) }))
  t.equal(large.status, 413, '413 over 1 MiB')
}

async function payments(t: Test, los: Los) {
  const { call, id } = los
  const loan = id('L-paid')
  for (const name of ['assigned', 'handled', 'first', 'second']) await send(los, name)
  const first = await call('POST', '/api/payments/batch')
  t.match(first, { status: 202, body: { batch_id: String } }, 'a batch is 202 {batch_id}')
  await runBatch(call)
  const batch = await call('GET', `/api/payments/batches/${first.body.batch_id}`)
  t.match(batch, { status: 200, body: { status: 'completed' } }, 'a batch is found by its id')
  const path = (name: string) => `/api/payments/gateway_a/${payment(los, name)}`
  const { body } = await call('GET', path('posted'))
  t.same(Object.keys(body).sort(), ['attempts', 'events', 'next_cursor', 'payment'])
  t.match(
    body.payment,
    { state: 'posted', external_loan_id: loan, amount: '1000.00', lender: 'LENDER_02' },
    'a payment is posted to the loan that its notes name',
  )
  t.match(body.events, [{ headers: null, body_base64: null, counts: true }], 'with its events')
  const { payments } = (await call('GET', `/api/payments?loan=${of(loan)}`)).body
  t.equal(payments.length, 1, 'payments are filtered by loan')
}

/** What people decide about payments that name no loan. */
async function decisions(t: Test, los: Los) {
  const { call, id } = los
  const loan = id('L-paid')
  const path = (name: string) => `/api/payments/gateway_a/${payment(los, name)}`
  const suspended = (await call('GET', path('assigned'))).body.payment
  t.match(suspended, { state: 'suspense', reason: 'no_loan_named' }, 'without a name, in suspense')
  const assign = { external_loan_id: loan }
  t.equal((await call('POST', `${path('assigned')}/assign`, assign)).status, 200, 'assign is 200')
  t.equal(
    (await call('POST', `${path('posted')}/assign`, assign)).status,
    409,
    'of a posted one, 409',
  )
  const note = await call('POST', `${path('handled')}/note`, { note: 'asked' })
  t.equal(note.status, 200, 'note is 200 with the payment')
  const handled = { outcome: 'handled', note: 'repaid in cash' }
  const resolved = await call('POST', `${path('handled')}/resolve`, handled)
  t.match(resolved, { status: 200, body: { state: 'handled' } }, 'resolve is 200 with the payment')
  const several = await call('POST', '/api/payments/assign', {
    assignments: ['first', 'posted', 'nothing'].map(name => ({
      gateway: 'gateway_a',
      gateway_payment_id: payment(los, name),
      ...assign,
    })),
  })
  t.same(
    several.body.results.map((one: any) => one.status),
    [200, 409, 404],
    'one result per assignment, in order, each with the status of the single call',
  )
  await runBatch(call)
  for (const name of ['assigned', 'first'])
    t.match(
      (await call('GET', path(name))).body.payment,
      { state: 'posted', external_loan_id: loan },
      'what was assigned is posted',
    )
  const checked = await call('POST', `${path('posted')}/check`)
  t.match(checked, { status: 200, body: { state: 'posted', reason: null } }, 'check reads it back')
  const day = PAID_AT_ISO.slice(0, 10)
  const query = `lender=LENDER_02&state=suspense&reason=no_loan_named&from=${day}&to=${day}`
  const { totals } = (await call('GET', `/api/payments/summary?${query}`)).body
  t.ok(/^\d+\.\d\d$/.test(totals[0].amount), 'a summary’s amounts are decimal strings')
}

async function portfolios(t: Test, los: Los) {
  const { call, id } = los
  const row = { loan_external_id: id('L-filed'), client_external_id: id('C-filed') }
  const wrong = await uploadCsv(los, 'loans', 'a,b\n1,2\n')
  t.equal(wrong.status, 400, 'a wrong header row is 400')
  const { status, body } = await uploadCsv(los, 'loans', loansCsv(row, { ...row, principal: 'x' }))
  t.equal(status, 201, 'an upload is 201')
  t.match(body, { type: 'loans', status: 'uploaded', rows: 2, invalid_rows: 2 }, 'with its counts')
  const { migration_id } = body
  const run = (more: object) => call('POST', '/api/migration/run', { migration_id, ...more })
  t.equal((await run({})).status, 409, '409 if rows are invalid and skip_invalid is not set')
  t.match(await errorsOf(los, migration_id), 'principal', 'errors.csv has the reasons')
  const cancel = await call('POST', `/api/migration/${migration_id}/cancel`)
  t.equal(cancel.status, 409, '409 for a cancel while it is not running')
  const discarded = await call('DELETE', `/api/migration/${migration_id}`)
  t.equal(discarded.status, 204, 'an upload that was never run is discarded with 204')
  const good = (await uploadCsv(los, 'loans', loansCsv(row))).body.migration_id
  const started = await call('POST', '/api/migration/run', { migration_id: good })
  t.match(started, { status: 202, body: { migration_id: good } }, 'run is 202')
  t.match(await ended(los, good), { status: 'completed', done: 1, failed: 0 }, 'it completes')
  const kept = await call('DELETE', `/api/migration/${good}`)
  t.equal(kept.status, 409, 'what was run is not discarded')
  const retried = await call('POST', `/api/migration/${good}/retry`)
  t.equal(retried.status, 202, 'retry is 202 for a completed migration')
  const { migrations } = (await call('GET', '/api/migration?type=loans&limit=1')).body
  t.equal(migrations[0].migration_id, good, 'migrations are listed newest first')
  t.equal((await call('GET', '/api/migration?type=x')).status, 400, 'an unknown type is 400')
  t.match(await textOf(los, '/api/migration/templates/loans.csv'), 'loan_external_id', 'a template')
}

async function accounts(t: Test, los: Los) {
  const { call } = los
  const login = (account: object) => call('POST', '/api/account/login', account)
  const entered = await login(ADMIN)
  t.match(
    entered,
    { status: 200, body: { access_token: String, token_type: 'Bearer', expires_in: Number } },
    'login is 200 {access_token, token_type, expires_in}',
  )
  const admin = { authorization: `Bearer ${entered.body.access_token}` }
  const account = { username: payment(los, 'asha'), password: 'a long pass phrase' }
  const register = (headers: Record<string, string>) =>
    call('POST', '/api/account/register', { ...account, role: 'operator' }, headers)
  t.equal((await register({})).status, 401, 'register without a Bearer is 401')
  t.match(
    await register(admin),
    { status: 201, body: { id: String, username: account.username, role: 'operator' } },
    'register is 201 {id, username, role, created_at}',
  )
  const taken = await register(admin)
  t.match(taken, { status: 409, body: { code: 'USERNAME_TAKEN' } }, 'a taken username is 409')
  const operator = { authorization: `Bearer ${(await login(account)).body.access_token}` }
  t.equal((await register(operator)).status, 403, 'an operator may not register')
  const wrong = await login({ ...account, password: 'not this pass phrase' })
  t.match(wrong, { status: 401, body: { code: 'INVALID_CREDENTIALS' } }, 'a wrong password is 401')
  const password = { current_password: account.password, new_password: 'another long phrase' }
  const changed = await call('POST', '/api/account/password', password, operator)
  t.equal(changed.status, 204, 'password is 204')
  for (const action of ['unlock', 'disable']) {
    const { status } = await call(
      'POST',
      `/api/account/${account.username}/${action}`,
      undefined,
      admin,
    )
    t.equal(status, 204, `${action} is 204`)
  }
  t.equal((await register(operator)).status, 401, 'a disabled account’s tokens are invalid at once')
}
