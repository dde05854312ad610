import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { attemptsOf, ending, hurry, listed, submit } from '../../support/engine/operations.ts'
import {
  approval,
  atLedger,
  clientData,
  control,
  disbursal,
  ledgerLoan,
  loanData,
  newName,
  writesOn,
} from '../../support/ledger/loans.ts'
import { type Interference, ledgerBody } from '../../support/ledger/proxy.ts'
import { throughProxy } from '../../support/ledger/through-proxy.ts'
import { operate } from '../../support/service.ts'
import { until } from '../../support/until.ts'

/** A service whose reads may come from a replica that lags. */
const { proxy, service } = await throughProxy(t)
const { call } = service

const noClient = { status: 404, body: ledgerBody(404, 'error.msg.client.id.invalid') }
const noLoan = { status: 404, body: ledgerBody(404, 'error.msg.loan.external.id.invalid') }
const lagging = { of: '', on: 'reads' } as const

async function givenLoan(): Promise<{ client: string; loan: string }> {
  const [client, loan] = [newName('C'), newName('L')]
  await operate(call, 'CLIENT_CREATE', clientData(client))
  await operate(call, 'LOAN_CREATE', loanData(loan, client))
  return { client, loan }
}

t.test('an operation waits until the ledger shows what the one before it made', async t => {
  const [client, loan] = [newName('C'), newName('L')]
  t.match(await operate(call, 'CLIENT_CREATE', clientData(client)), { status: 'success' })
  proxy.interferences = [{ ...lagging, of: client, ...noClient, times: 2 }]
  const created = await submit(call, 'LOAN_CREATE', loanData(loan, client))
  const waiting = await until(async () => {
    const item = await listed(call, loan, created)
    return item.waiting_for !== null && item
  })
  t.match(waiting, { waiting_for: 'ledger_unavailable', last_error: /does not show yet/ })
  t.match(await ending(call, created), { status: 'success' })
  proxy.interferences = [{ ...lagging, of: loan, ...noLoan, times: 2 }]
  t.match(await operate(call, 'LOAN_APPROVE', approval(loan)), { status: 'success' })
  proxy.interferences = [{ ...lagging, of: client, ...noClient, times: 1 }]
  const renamed = { externalId: client, lastname: 'Roy' }
  t.match(await operate(call, 'CLIENT_UPDATE', renamed), { status: 'success' })
})

t.test('a loan that was made or deleted long ago, or never, is believed to be missing', async t => {
  const { loan } = await givenLoan()
  const gone = async () => {
    proxy.interferences = [{ ...lagging, of: loan, ...noLoan }]
    t.match(await operate(call, 'LOAN_APPROVE', approval(loan)), { status: 'failed' })
    proxy.interferences = []
  }
  await sql`update loanops.operation set processed_at = processed_at - interval '61 seconds'
    where external_id = ${loan}`.execute(service.db)
  await gone()
  t.match(await operate(call, 'LOAN_DELETE', { external_loan_id: loan }), { status: 'success' })
  await gone()
})

t.test('a delete that came twice succeeds, though reads still show the loan', async t => {
  const { loan } = await givenLoan()
  const body = await atLedger(service, 'GET', `/loans/external-id/${loan}`)
  proxy.interferences = [
    { of: loan, on: 'writes', isTwice: true, times: 1 },
    { ...lagging, of: loan, status: 200, body },
  ]
  const id = await submit(call, 'LOAN_DELETE', { external_loan_id: loan })
  const waiting = await until(async () => {
    const item = await listed(call, loan, id)
    return item.waiting_for !== null && item
  })
  t.match(waiting, { waiting_for: 'outcome_unknown', last_error: /does not exist/ })
  await hurry(service, id)
  await until(async () => (await attemptsOf(service, id)).length === 2)
  proxy.interferences = []
  await hurry(service, id)
  t.match(await ending(call, id), { status: 'success' })
  const deletes = (await writesOn(service, loan)).filter(command => command.startsWith('DELETE'))
  t.equal(deletes.length, 1)
})

t.test('LOAN_UPDATE does not set back what the update before it changed', async t => {
  const { loan } = await givenLoan()
  const update = (changes: object) => operate(call, 'LOAN_UPDATE', { externalId: loan, ...changes })
  t.match(await update({ principal: 41_000 }), { status: 'success' })
  const alters = ({ body }: { body: object }) => Object.assign(body, { proposedPrincipal: 50_000 })
  proxy.interferences = [{ ...lagging, of: loan, alters, times: 2 }]
  t.match(await update({ interestRatePerPeriod: 12 }), { status: 'success' })
  const found = await atLedger(service, 'GET', `/loans/external-id/${loan}`)
  t.match(found, { proposedPrincipal: 41_000, interestRatePerPeriod: 12 })
})

t.test('CLIENT_UPDATE does not set back a name that the update before it changed', async t => {
  const client = newName('C')
  await operate(call, 'CLIENT_CREATE', clientData(client))
  await operate(call, 'CLIENT_UPDATE', { externalId: client, lastname: 'Roy' })
  const alters = ({ body }: { body: object }) => Object.assign(body, { lastname: 'Rao' })
  proxy.interferences = [{ ...lagging, of: client, alters, times: 1 }]
  const id = await submit(call, 'CLIENT_UPDATE', { externalId: client, firstname: 'Usha' })
  await hurry(service, id)
  t.match(await ending(call, id), { status: 'success' })
  const found = await atLedger(service, 'GET', `/clients/external-id/${client}`)
  t.match(found, { firstname: 'Usha', lastname: 'Roy' })
})

/** The loan or client as it is read now, for reads that lag. */
async function seenNow(path: string): Promise<Interference> {
  return { ...lagging, of: path, status: 200, body: await atLedger(service, 'GET', `/${path}`) }
}

async function afterLagging(t: Test, read: Interference, operationType: string, data: object) {
  proxy.interferences = [{ ...read, times: 1 }]
  const id = await submit(call, operationType, data)
  await hurry(service, id)
  t.match(await ending(call, id), { status: 'success' })
}

t.test('LOAN_UPDATE does not give a loan the terms of a deleted one of its id', async t => {
  const { client, loan } = await givenLoan()
  const deleted = await seenNow(`loans/external-id/${loan}`)
  await operate(call, 'LOAN_DELETE', { external_loan_id: loan })
  await operate(call, 'LOAN_CREATE', { ...loanData(loan, client), principal: 77_000 })
  await afterLagging(t, deleted, 'LOAN_UPDATE', { externalId: loan, interestRatePerPeriod: 12 })
  const found = await atLedger(service, 'GET', `/loans/external-id/${loan}`)
  t.match(found, { proposedPrincipal: 77_000, interestRatePerPeriod: 12 })
})

t.test('LOAN_UPDATE sets back nothing that any of the updates before it changed', async t => {
  const { loan } = await givenLoan()
  const old = await seenNow(`loans/external-id/${loan}`)
  const update = (changes: object) => operate(call, 'LOAN_UPDATE', { externalId: loan, ...changes })
  await update({ principal: 41_000, interestRatePerPeriod: 12 })
  await update({ principal: 50_000 })
  await afterLagging(t, old, 'LOAN_UPDATE', { externalId: loan, numberOfRepayments: 6 })
  const found = await atLedger(service, 'GET', `/loans/external-id/${loan}`)
  t.match(found, { proposedPrincipal: 50_000, interestRatePerPeriod: 12, numberOfRepayments: 6 })
})

t.test('LOAN_UPDATE does not wait for a term that an earlier update named otherwise', async t => {
  const { loan } = await givenLoan()
  const update = (changes: object) => operate(call, 'LOAN_UPDATE', { externalId: loan, ...changes })
  await update({ loanTermFrequency: 1, loanTermFrequencyType: 'years', numberOfRepayments: 12 })
  await update({ numberOfRepayments: 1 })
  const id = await submit(call, 'LOAN_UPDATE', { externalId: loan, principal: 41_000 })
  const item = await until(async () => {
    const item = await listed(call, loan, id)
    return (item.status !== 'processing' || item.waiting_for !== null) && item
  })
  t.match(item, { status: 'success' })
})

t.test('CLIENT_UPDATE keeps a new name if a change of something else came between', async t => {
  const client = newName('C')
  await operate(call, 'CLIENT_CREATE', clientData(client))
  const old = await seenNow(`clients/external-id/${client}`)
  const update = (changes: object) =>
    operate(call, 'CLIENT_UPDATE', { externalId: client, ...changes })
  await update({ firstname: 'Usha', lastname: 'Roy' })
  await update({ mobileNo: '+919876500001' })
  await afterLagging(t, old, 'CLIENT_UPDATE', {
    externalId: client,
    emailAddress: 'usha@example.in',
  })
  const found = await atLedger(service, 'GET', `/clients/external-id/${client}`)
  t.match(found, { firstname: 'Usha', lastname: 'Roy', emailAddress: 'usha@example.in' })
})

t.test('LOAN_APPROVE expects no disbursement on the day of a deleted loan of its id', async t => {
  const { client, loan } = await givenLoan()
  await operate(call, 'LOAN_UPDATE', { externalId: loan, submittedOnDate: '07 January 2026' })
  const deleted = await seenNow(`loans/external-id/${loan}`)
  await operate(call, 'LOAN_DELETE', { external_loan_id: loan })
  await operate(call, 'LOAN_CREATE', loanData(loan, client))
  await afterLagging(t, deleted, 'LOAN_APPROVE', approval(loan))
  const { timeline } = await atLedger(service, 'GET', `/loans/external-id/${loan}`)
  t.strictSame(timeline.expectedDisbursementDate, [2026, 1, 5])
})

t.test('a second LOAN_DELETE fails, though a read still shows the loan', async t => {
  const { loan } = await givenLoan()
  const deleted = await seenNow(`loans/external-id/${loan}`)
  await operate(call, 'LOAN_DELETE', { external_loan_id: loan })
  proxy.interferences = [{ ...deleted, times: 1 }]
  const id = await submit(call, 'LOAN_DELETE', { external_loan_id: loan })
  await hurry(service, id)
  t.match(await ending(call, id), { status: 'failed' })
})

t.test('a delete that was lost on its way is sent again, though a read lacks the loan', async t => {
  const { loan } = await givenLoan()
  proxy.interferences = [
    { of: loan, on: 'writes', status: 504, body: 'Gateway Time-out', times: 1 },
    { ...lagging, of: loan, ...noLoan, spares: 1, times: 1 },
  ]
  const id = await submit(call, 'LOAN_DELETE', { external_loan_id: loan })
  t.match(await ending(call, id), { status: 'success' })
  t.ok((await writesOn(service, loan)).includes('DELETE/LOAN'))
})

t.test('a delete whose answer was lost succeeds at once, however new the loan is', async t => {
  const { loan } = await givenLoan()
  proxy.interferences = [
    { of: loan, on: 'writes', status: 504, body: 'Gateway Time-out', afterwards: true, times: 1 },
  ]
  const id = await submit(call, 'LOAN_DELETE', { external_loan_id: loan })
  t.match(await ending(call, id), { status: 'success' })
})

t.test('a client or loan that a checker approved is not missing, though reads lack it', async t => {
  const [client, loan] = [newName('C'), newName('L')]
  for (const [status, data, missing] of [
    ['CLIENT_CREATE', clientData(client), noClient],
    ['LOAN_CREATE', loanData(loan, client), noLoan],
  ] as const) {
    const of = data.externalId
    const match = { externalId: of, on: 'writes' }
    await control(service, 'PUT', '/faults', [{ kind: 'makerChecker', times: 1, match }])
    // Nobody learns that it waits for a second person.
    proxy.interferences = [
      { of, on: 'writes', afterwards: true, times: 1 },
      { ...lagging, of, status: 503, body: '' },
    ]
    const id = await submit(call, status, data)
    await until(async () => (await attemptsOf(service, id))[0])
    const [pending] = await atLedger(service, 'GET', '/makercheckers')
    await atLedger(service, 'POST', `/makercheckers/${pending.id}?command=approve`)
    proxy.interferences = [{ ...lagging, of, ...missing, times: 2 }]
    await hurry(service, id)
    t.match(await ending(call, id), { status: 'success' }, status)
  }
})

t.test('LOAN_CREATE takes no deleted loan of its id for the one that it made', async t => {
  const { client, loan } = await givenLoan()
  const deleted = await seenNow(`loans/external-id/${loan}`)
  await operate(call, 'LOAN_DELETE', { external_loan_id: loan })
  proxy.interferences = [
    { of: loan, on: 'writes', status: 504, body: 'Gateway Time-out', times: 1 },
    { ...deleted, times: 1 },
  ]
  const id = await submit(call, 'LOAN_CREATE', loanData(loan, client))
  await until(async () => (await attemptsOf(service, id)).length === 2)
  await hurry(service, id)
  t.match(await ending(call, id), { status: 'success' })
  t.match(await atLedger(service, 'GET', `/loans/external-id/${loan}`), { externalId: loan })
})

const noTransaction = {
  status: 404,
  body: ledgerBody(404, 'error.msg.loan.transaction.external.id.invalid'),
}

t.test('a command that came twice succeeds, though reads do not show its effect yet', async t => {
  const commands = [
    ['LOAN_DISBURSE', 'approved', disbursal],
    ['LOAN_APPROVE', 'created', approval],
  ] as const
  for (const [name, state, data] of commands) {
    const loan = await ledgerLoan(service, state)
    const old = await seenNow(`loans/external-id/${loan}`)
    proxy.interferences = [
      { of: loan, on: 'writes', isTwice: true, dropsKey: true, times: 1 },
      { ...lagging, of: `${loan}/transactions/external-id`, ...noTransaction, times: 1 },
      { ...old, times: 2 },
    ]
    const id = await submit(call, name, data(loan))
    t.match(await ending(call, id), { status: 'success' }, name)
    const [command] = name.split('_').reverse()
    const writes = (await writesOn(service, loan)).filter(one => one === `${command}/LOAN`)
    t.equal(writes.length, 1)
  }
})

t.test('a second disbursement fails at once where reads show the first one', async t => {
  const loan = await ledgerLoan(service, 'disbursed')
  const id = await submit(call, 'LOAN_DISBURSE', disbursal(loan))
  t.match(await ending(call, id), { status: 'failed' })
  t.equal((await attemptsOf(service, id)).length, 1)
})
