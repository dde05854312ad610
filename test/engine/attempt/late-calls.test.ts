import t, { type Test } from 'tap'
import { attemptsOf, ending, hurry, listed, submit } from '../../support/engine/operations.ts'
import { makeLedgerLoan } from '../../support/ledger/ledger-loan.ts'
import {
  atLedger,
  DAY,
  disbursal,
  ledgerLoan,
  newName,
  writesOn,
} from '../../support/ledger/loans.ts'
import { ledgerBody } from '../../support/ledger/proxy.ts'
import { throughProxy } from '../../support/ledger/through-proxy.ts'
import { until } from '../../support/until.ts'

const { proxy, service } = await throughProxy(t, { LEDGER_TIMEOUT_MS: '1000' })

t.test(
  'a repeated write whose loan is unknown ends no operation whose first call may still arrive',
  async t => {
    const loan = newName('L')
    const arrive = held(loan)
    const id = await submit(service.call, 'LOAN_DISBURSE', disbursal(loan))
    await until(async () => (await attemptsOf(service, id)).some(one => one.http_status === 404))
    t.match(await listed(service.call, loan, id), {
      status: 'processing',
      waiting_for: 'outcome_unknown',
    })
    const post = (path: string, body: object) => atLedger(service, 'POST', path, body)
    const client = { externalId: newName('C') }
    await makeLedgerLoan(post, loan, { until: 'approved', day: DAY, client })
    arrive()
    await disbursedOnce(t, loan, id)
  },
)

t.test(
  'a failure that the ledger did not store gives up no key under which a call may still arrive',
  async t => {
    const loan = await ledgerLoan(service, 'approved')
    const arrive = held(loan)
    const body = ledgerBody(409, 'error.msg.platform.service.query.conflict')
    proxy.interferences.push({ of: loan, on: 'writes', status: 409, body, times: 2 })
    const id = await submit(service.call, 'LOAN_DISBURSE', disbursal(loan))
    await until(async () => (await attemptsOf(service, id)).length === 3)
    arrive()
    await disbursedOnce(t, loan, id)
    const keys = (await attemptsOf(service, id)).flatMap(one => one.idempotency_key ?? [])
    t.equal(new Set(keys).size, 1, 'the same key')
  },
)

/** Keeps the first write on this loan from the ledger. @returns what lets it go on */
function held(loan: string): () => void {
  const { promise, resolve } = Promise.withResolvers<void>()
  proxy.interferences.push({ of: loan, on: 'writes', after: promise, times: 1 })
  return resolve
}

async function disbursedOnce(t: Test, loan: string, id: string): Promise<void> {
  await until(() => Promise.resolve(proxy.held === 0 && proxy.underWay === 0), 'the first call')
  await hurry(service, id)
  t.match(await ending(service.call, id), { status: 'success' })
  t.equal((await writesOn(service, loan)).filter(one => one === 'DISBURSE/LOAN').length, 1)
}
