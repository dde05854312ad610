import { sql } from 'kysely'
import t from 'tap'
import { startWithConsole } from '../../support/console/console.ts'
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
import {
  containerBody,
  type Interference,
  ledgerBody,
  startProxy,
} from '../../support/ledger/proxy.ts'
import { throughProxy } from '../../support/ledger/through-proxy.ts'
import { until } from '../../support/until.ts'

/** A service whose calls pass through something that is not the ledger: for all tests but the one with a console. */
const { proxy, service } = await throughProxy(t)

t.test(
  'a disbursement that was applied but answered by the container does not fail at its deadline',
  async t => {
    for (const status of [404, 403]) {
      const body = containerBody(status)
      const loan = await ledgerLoan(service, 'approved')
      proxy.interferences = [{ of: loan, on: 'writes', status, body, afterwards: true }]
      const id = await submit(service.call, 'LOAN_DISBURSE', disbursal(loan))
      await until(async () => (await attemptsOf(service, id))[0])
      await sql`update loanops.operation set accepted_at = accepted_at - interval '2 days'
        where id = ${id.split('|')[1]}`.execute(service.db)
      await hurry(service, id)
      t.match(await ending(service.call, id), { status: 'success' }, String(status))
    }
  },
)

t.test('a delete that reached the ledger twice succeeds even with the second’s answer', async t => {
  const loan = await ledgerLoan(service)
  proxy.interferences = [{ of: loan, on: 'writes', isTwice: true }]
  const id = await submit(service.call, 'LOAN_DELETE', { external_loan_id: loan })
  t.match(await ending(service.call, id), { status: 'success' })
  const deletes = (await writesOn(service, loan)).filter(command => command.startsWith('DELETE'))
  t.equal(deletes.length, 1)
})

t.test(
  'a delete that reached the ledger twice does not fail at its deadline before a look succeeds',
  async t => {
    const loan = await ledgerLoan(service)
    proxy.interferences = [
      { of: loan, on: 'writes', isTwice: true },
      { of: loan, on: 'reads', status: 500, body: '', spares: 1 },
    ]
    const id = await submit(service.call, 'LOAN_DELETE', { external_loan_id: loan })
    await until(async () => (await attemptsOf(service, id))[0])
    await sql`update loanops.operation set accepted_at = accepted_at - interval '2 days'
      where id = ${id.split('|')[1]}`.execute(service.db)
    await hurry(service, id)
    await until(async () => (await attemptsOf(service, id)).length === 2)
    t.match(await listed(service.call, loan, id), { waiting_for: 'outcome_unknown' })
    proxy.interferences = []
    await hurry(service, id)
    t.match(await ending(service.call, id), { status: 'success' })
  },
)

t.test('an approval that the ledger ran twice by itself succeeds', async t => {
  const loan = await ledgerLoan(service)
  proxy.interferences = [{ of: loan, on: 'writes', isTwice: true, dropsKey: true, times: 1 }]
  const id = await submit(service.call, 'LOAN_APPROVE', approval(loan))
  const changes = { status: { id: 200 } }
  t.match(await ending(service.call, id), { status: 'success', success_response: { changes } })
  const again = await submit(service.call, 'LOAN_APPROVE', approval(loan))
  t.match(await ending(service.call, again), { status: 'failed' })
  t.same(await writesOn(service, loan), ['CREATE/LOAN', 'APPROVE/LOAN'])
})

t.test('a refusal of another command fails no write, first or repeated', async t => {
  const body = ledgerBody(403, 'error.msg.loan.with.externalId.already.used')
  const swapped = { on: 'writes', status: 403, body, times: 1 } as const
  const lost = { on: 'writes', status: 502, body: 'Bad Gateway', times: 1 } as const
  for (const answers of [[swapped], [lost, swapped]]) {
    const loan = await ledgerLoan(service)
    proxy.interferences = answers.map(one => ({ ...one, of: loan }))
    const id = await submit(service.call, 'LOAN_UPDATE', { externalId: loan, principal: 41_000 })
    t.match(await ending(service.call, id), { status: 'success' })
  }
})

t.test('a creation succeeds although its answer says that another record is absent', async t => {
  const [client, loan] = [newName('C'), newName('L')]
  const absent = (code: string) => ({ status: 404, body: ledgerBody(404, code), times: 1 })
  const lost = { on: 'writes', afterwards: true } as const
  proxy.interferences = [
    { ...lost, of: client, ...absent('error.msg.client.id.invalid') },
    { ...lost, of: loan, ...absent('error.msg.loan.external.id.invalid') },
  ]
  const created = await submit(service.call, 'CLIENT_CREATE', clientData(client))
  t.match(await ending(service.call, created), { status: 'success' })
  const applied = await submit(service.call, 'LOAN_CREATE', loanData(loan, client))
  t.match(await ending(service.call, applied), { status: 'success' })
})

t.test('a failure whose mark as a stored one is lost on the way gives its key up', async t => {
  const loan = await ledgerLoan(service)
  await control(service, 'PUT', '/faults', [
    { kind: 'error', status: 500, times: 1, match: { externalId: loan, on: 'writes' } },
  ])
  const alters = ({ headers }: { headers: Record<string, string> }) => {
    delete headers['x-served-from-cache']
  }
  proxy.interferences = [{ of: loan, on: 'writes', alters }]
  const id = await submit(service.call, 'LOAN_UPDATE', { externalId: loan, principal: 41_000 })
  t.match(await ending(service.call, id), { status: 'success' })
  const keys = (await attemptsOf(service, id)).flatMap(one => one.idempotency_key ?? [])
  t.equal(new Set(keys).size, 2)
})

t.test('a key that another call had is named as what may not reach the ledger', async t => {
  const loan = await ledgerLoan(service)
  const body = { officeId: 1, clientId: 1, loanId: 1, resourceId: 1 }
  proxy.interferences = [{ of: loan, on: 'writes', status: 200, body, isFromStore: true }]
  const id = await submit(service.call, 'LOAN_APPROVE', approval(loan))
  await until(async () => (await attemptsOf(service, id))[0])
  t.match(await listed(service.call, loan, id), {
    waiting_for: 'outcome_unknown',
    last_error: /result of another call with the same key: the header Idempotency-Key/,
  })
  proxy.interferences = []
  t.match(await ending(service.call, id), { status: 'success' })
})

t.test('a write that a firewall refuses is reported from its first answer on', async t => {
  const proxy = await startProxy(t)
  const service = await startWithConsole(t, { LEDGER_URL: proxy.url })
  proxy.target = service.ledger.url
  const loan = await ledgerLoan(service)
  proxy.interferences = [{ of: loan, on: 'writes', status: 403, body: '<h1>Forbidden</h1>' }]
  const id = await submit(service.call, 'LOAN_APPROVE', approval(loan))
  await until(async () => (await attemptsOf(service, id))[0])
  const waiting = {
    status: 'processing',
    waiting_for: 'outcome_unknown',
    last_error: /^something in front of the ledger refuses this write: /,
  }
  t.match(await listed(service.call, loan, id), waiting)
  t.match(await service.call('GET', '/readyz'), {
    body: { ledger: { in_front: 'something in front of the ledger refuses this write' } },
  })
  const home = await service.admin('/console')
  t.match(home.text, 'something in front of the ledger refuses this write')

  await sql`
    update loanops.operation set accepted_at = accepted_at - interval '2 days'`.execute(service.db)
  await hurry(service, id)
  await until(async () => (await attemptsOf(service, id)).length > 1)
  t.match(await listed(service.call, loan, id), waiting, 'beyond its deadline')
})

t.test('a read that a firewall refuses, or leads to a login, says so', async t => {
  const answers = [
    {
      status: 403,
      body: '<h1>Forbidden</h1>',
      means: /^something in front .* refuses this read: /,
    },
    { status: 302, body: '', means: /; if it is a page for people to log in, / },
  ]
  for (const { means, ...answer } of answers)
    t.match(await waitingAfter({ on: 'reads', ...answer }), { last_error: means })
})

t.test('a firewall that lets no DELETE through is not taken for a wrong LEDGER_URL', async t => {
  const loan = await ledgerLoan(service)
  proxy.interferences = [{ of: loan, on: 'writes', status: 405, body: '<h1>Not Allowed</h1>' }]
  const id = await submit(service.call, 'LOAN_DELETE', { external_loan_id: loan })
  await until(async () => (await attemptsOf(service, id))[0])
  t.match(await listed(service.call, loan, id), {
    waiting_for: 'ledger_credentials',
    last_error: /^something in front of the ledger lets no calls of this kind through: let GET, /,
  })
  proxy.interferences = []
  await hurry(service, id)
  t.match(await ending(service.call, id), { status: 'success' })
})

t.test('a firewall’s 404 or 415 on a write is not blamed on LEDGER_URL alone', async t => {
  const answers = [
    { status: 404, body: '<h1>Not Found</h1>', means: /, or something in front of it refuses/ },
    { status: 415, body: '<h1>Refused</h1>', means: /, or something in front of it refuses/ },
    { status: 415, body: containerBody(415), means: /^something in front .* changes this call/ },
  ]
  for (const { means, ...answer } of answers)
    t.match(await waitingAfter({ on: 'writes', ...answer }), { last_error: means })
})

t.test('a look that the ledger refuses does not count as “not there”', async t => {
  const refusals = [
    { status: 400, body: ledgerBody(400, 'error.msg.password.outdated') },
    { status: 403, body: ledgerBody(403, 'error.msg.no.such.right') },
  ]
  for (const refused of refusals) {
    const loan = await ledgerLoan(service, 'approved')
    const blind = { of: loan, on: 'reads', ...refused } as const
    proxy.interferences = [{ of: loan, on: 'writes', afterwards: true }, blind]
    const id = await submit(service.call, 'LOAN_DISBURSE', disbursal(loan))
    await until(async () => (await attemptsOf(service, id))[0])
    proxy.interferences = [{ of: loan, on: 'writes', ...refused }, blind]
    await hurry(service, id)
    await until(async () => (await attemptsOf(service, id)).length === 2)
    t.match(await listed(service.call, loan, id), {
      status: 'processing',
      waiting_for: 'outcome_unknown',
    })
    proxy.interferences = []
    await hurry(service, id)
    t.match(await ending(service.call, id), { status: 'success' })
    t.equal((await writesOn(service, loan)).filter(one => one.startsWith('DISBURSE')).length, 1)
  }
})

t.test('a 200 from something other than the ledger fails no operation', async t => {
  const client = newName('C')
  await ending(service.call, await submit(service.call, 'CLIENT_CREATE', clientData(client)))
  proxy.interferences = [{ of: client, on: 'reads', status: 200, body: { status: 'maintenance' } }]
  const loan = newName('L')
  const created = await submit(service.call, 'LOAN_CREATE', loanData(loan, client))
  const change = { externalId: client, emailAddress: 'a@b.in' }
  const updated = await submit(service.call, 'CLIENT_UPDATE', change)
  for (const [name, id] of [
    [loan, created],
    [client, updated],
  ] as const)
    await until(async () => (await listed(service.call, name, id)).last_error !== null)
  proxy.interferences = []
  for (const id of [created, updated]) {
    await hurry(service, id)
    t.match(await ending(service.call, id), { status: 'success' })
  }
})

t.test('a read that is answered with another record does not show what became of ours', async t => {
  const [loan, other] = [await ledgerLoan(service), await ledgerLoan(service, 'approved')]
  const body = await atLedger(service, 'GET', `/loans/external-id/${other}`)
  proxy.interferences = [
    { of: loan, on: 'writes', times: 1 },
    { of: loan, on: 'reads', status: 200, body, spares: 1 },
  ]
  const id = await submit(service.call, 'LOAN_APPROVE', approval(loan))
  await until(async () => (await attemptsOf(service, id)).length === 1)
  await hurry(service, id)
  await until(async () => (await attemptsOf(service, id)).length === 2)
  t.match(await listed(service.call, loan, id), {
    waiting_for: 'outcome_unknown',
    last_error: `the answer is about another record than ${loan}`,
  })
  proxy.interferences = []
  await hurry(service, id)
  t.match(await ending(service.call, id), { status: 'success' })
  t.equal((await writesOn(service, loan)).filter(one => one.startsWith('APPROVE')).length, 1)
})

t.test('the result of an approval does not show that the loan was disbursed', async t => {
  const loan = await ledgerLoan(service)
  const { success_response: body } = await ending(
    service.call,
    await submit(service.call, 'LOAN_APPROVE', approval(loan)),
  )
  proxy.interferences = [{ of: loan, on: 'writes', status: 200, body: body as object, times: 1 }]
  const id = await submit(service.call, 'LOAN_DISBURSE', disbursal(loan))
  t.match(await ending(service.call, id), {
    status: 'success',
    success_response: { changes: { status: { id: 300 } } },
  })
  t.match(await attemptsOf(service, id), [{ outcome: 'unknown' }, { outcome: 'done' }])
  t.equal((await writesOn(service, loan)).filter(one => one.startsWith('DISBURSE')).length, 1)
})

t.test('a refusal of another command fails no operation that was applied', async t => {
  const code = 'error.msg.loan.approve.account.is.not.submitted.and.pending.state'
  const refused = { on: 'writes', status: 400, body: ledgerBody(400, code), times: 1 } as const
  for (const afterwards of [true, false]) {
    const loan = await ledgerLoan(service, 'approved')
    proxy.interferences = [{ of: loan, ...refused, afterwards }]
    const id = await submit(service.call, 'LOAN_DISBURSE', disbursal(loan))
    t.match(await ending(service.call, id), { status: 'success' }, `passed on: ${afterwards}`)
    t.equal((await writesOn(service, loan)).filter(one => one.startsWith('DISBURSE')).length, 1)
  }
})

t.test('an applied disbursement does not fail by an earlier refusal of its kind', async t => {
  const loan = await ledgerLoan(service, 'approved')
  const code = 'error.msg.loan.disbursal.account.is.not.approve.not.disbursed.state'
  const body = ledgerBody(400, code)
  proxy.interferences = [{ of: loan, on: 'writes', status: 400, body, times: 1, afterwards: true }]
  const id = await submit(service.call, 'LOAN_DISBURSE', disbursal(loan))
  t.match(await ending(service.call, id), { status: 'success' })
  t.equal((await attemptsOf(service, id)).length, 1)
})

t.test('an answer that another record is missing does not show a loan as deleted', async t => {
  const others = [
    absence('error.msg.loan.external.id.invalid', 'another loan'),
    absence('error.msg.client.id.invalid'),
  ]
  for (const body of others) {
    const loan = await ledgerLoan(service)
    proxy.interferences = [
      { of: loan, on: 'writes', times: 1 },
      { of: loan, on: 'reads', status: 404, body, spares: 1 },
    ]
    const id = await submit(service.call, 'LOAN_DELETE', { external_loan_id: loan })
    await until(async () => (await attemptsOf(service, id)).length === 1)
    await hurry(service, id)
    await until(async () => (await attemptsOf(service, id)).length === 2)
    t.match(await listed(service.call, loan, id), { waiting_for: 'outcome_unknown' })
    proxy.interferences = []
    await hurry(service, id)
    t.match(await ending(service.call, id), { status: 'success' })
    const deletes = (await writesOn(service, loan)).filter(command => command.startsWith('DELETE'))
    t.equal(deletes.length, 1)
  }
})

function absence(code: string, value?: string) {
  const error = { userMessageGlobalisationCode: code, args: [{ value }] }
  return { ...ledgerBody(404, code), errors: [error] }
}

/** @returns an approval that waits because something in front of the ledger gives this answer */
async function waitingAfter(answer: Omit<Interference, 'of'>) {
  const loan = await ledgerLoan(service)
  proxy.interferences = [{ of: loan, ...answer }]
  const id = await submit(service.call, 'LOAN_APPROVE', approval(loan))
  await until(async () => (await attemptsOf(service, id))[0])
  return listed(service.call, loan, id)
}
