import t from 'tap'
import { attemptsOf, delay, ending, hurry, submit } from '../../support/engine/operations.ts'
import { ledgerLoanBody } from '../../support/ledger/ledger-loan.ts'
import {
  approval,
  atLedger,
  clientData,
  control,
  DAY,
  disbursal,
  givenCharge,
  LATER_DAY,
  ledgerLoan,
  loanData,
  newName,
  writesOn,
} from '../../support/ledger/loans.ts'
import { matchEach } from '../../support/match-each.ts'
import { startTestService, type TestService } from '../../support/service.ts'

const EARLIER_DAY = '04 January 2026'

/** All tests share this service: their faults are of one loan or client each. */
const service = await startTestService(t)

type Prepared = {
  status: string
  data: object
  subject: string
  /** The command that the ledger's log shows if ours was applied. */
  command: string
  /** What somebody else does at the ledger meanwhile. */
  stranger(): Promise<unknown>
  /** Whether the ledger refuses ours after that. */
  isRefused: boolean
}

const prepare: Record<string, (service: TestService) => Promise<Prepared>> = {
  async CLIENT_CREATE(service) {
    const subject = newName('C')
    const other = {
      ...clientData(subject),
      firstname: 'Ravi',
      officeId: 1,
      legalFormId: 1,
      active: true,
    }
    return {
      status: 'CLIENT_CREATE',
      data: clientData(subject),
      subject,
      command: 'CREATE/CLIENT',
      stranger: () => atLedger(service, 'POST', '/clients', other),
      isRefused: true,
    }
  },
  async CLIENT_UPDATE(service) {
    const subject = newName('C')
    const client = { ...clientData(subject), officeId: 1, legalFormId: 1, active: true }
    await atLedger(service, 'POST', '/clients', client)
    const other = { firstname: 'Ravi', lastname: 'Rao' }
    return {
      status: 'CLIENT_UPDATE',
      data: { externalId: subject, lastname: 'Iyer' },
      subject,
      command: 'UPDATE/CLIENT',
      stranger: () => atLedger(service, 'PUT', `/clients/external-id/${subject}`, other),
      isRefused: false,
    }
  },
  async LOAN_CREATE(service) {
    const client = newName('C')
    const body = { ...clientData(client), officeId: 1, legalFormId: 1, active: true }
    await atLedger(service, 'POST', '/clients', body)
    const subject = newName('L')
    const data = loanData(subject, client)
    return {
      status: 'LOAN_CREATE',
      data,
      subject,
      command: 'CREATE/LOAN',
      stranger: () => submitElsewhere(service, subject, client),
      isRefused: true,
    }
  },
  async LOAN_UPDATE(service) {
    const subject = await ledgerLoan(service)
    return {
      status: 'LOAN_UPDATE',
      data: { externalId: subject, principal: 70_000 },
      subject,
      command: 'UPDATE/LOAN',
      stranger: () => approveElsewhere(service, subject),
      isRefused: true,
    }
  },
  async LOAN_APPROVE(service) {
    const subject = await ledgerLoan(service)
    return {
      status: 'LOAN_APPROVE',
      data: approval(subject),
      subject,
      command: 'APPROVE/LOAN',
      stranger: () => approveElsewhere(service, subject),
      isRefused: true,
    }
  },
  async LOAN_DISBURSE(service) {
    const subject = await ledgerLoan(service, 'approved')
    const path = `/loans/external-id/${subject}?command=disburse`
    return {
      status: 'LOAN_DISBURSE',
      data: disbursal(subject),
      subject,
      command: 'DISBURSE/LOAN',
      stranger: () => atLedger(service, 'POST', path, { actualDisbursementDate: DAY }),
      isRefused: true,
    }
  },
  async LOAN_DELETE(service) {
    const subject = await ledgerLoan(service)
    return {
      status: 'LOAN_DELETE',
      data: { external_loan_id: subject },
      subject,
      command: 'DELETE/LOAN',
      stranger: () => approveElsewhere(service, subject),
      isRefused: true,
    }
  },
}

t.test('an operation whose answer was lost is found at the ledger and not repeated', async t => {
  t.jobs = 4
  for (const [name, prepared] of Object.entries(prepare)) {
    t.test(name, async t => {
      const { status, data, subject, command } = await prepared(service)
      await control(service, 'POST', '/faults', { ...lost('drop', subject), times: 1 })
      const record = await ending(service.call, await submit(service.call, status, data))
      t.match(record, { status: 'success', success_response: { resourceExternalId: subject } })
      const done = (await writesOn(service, subject)).filter(one => one === command)
      t.equal(done.length, 1, 'applied once')
      const attempts = await attemptsOf(service, record.tracking_id)
      matchEach(t, attempts, [{ outcome: 'unknown' }, { outcome: 'done', method: 'GET' }])
    })
  }
})

t.test('a result found by reading has the fields of the ledger’s own answer', async t => {
  const chargeId = await givenCharge(service, { amount: 500 })
  const charges = [{ chargeId, amount: 500, dueDate: LATER_DAY }]
  const client = async () => {
    const subject = newName('C')
    const person = { ...clientData(subject), officeId: 1, legalFormId: 1, active: true }
    await atLedger(service, 'POST', '/clients', { ...person, activationDate: EARLIER_DAY })
    return subject
  }
  const charged = async () => {
    const { id } = await atLedger(service, 'GET', `/clients/external-id/${await client()}`)
    const subject = newName('L')
    await atLedger(service, 'POST', '/loans', { ...ledgerLoanBody(subject, id, DAY), charges })
    return subject
  }
  const terms = { loanTermFrequency: 24, loanTermFrequencyType: 'weeks', numberOfRepayments: 6 }
  const more = { principal: 70_000, interestRatePerPeriod: 12, submittedOnDate: LATER_DAY }
  const names = { firstname: 'Usha', lastname: 'Iyer' }
  const reach = { emailAddress: 'a@b.in', activationDate: DAY }
  const receipt = { utr_payment_id: 'UTR1', note: 'by NEFT' }
  const cases: [string, () => Promise<string>, (subject: string) => object][] = [
    // The ledger wants telephone numbers to be unique.
    [
      'CLIENT_UPDATE',
      client,
      externalId => ({ externalId, mobileNo: externalId, ...names, ...reach }),
    ],
    ['LOAN_UPDATE', charged, externalId => ({ externalId, ...terms, ...more })],
    ['LOAN_APPROVE', charged, approval],
    [
      'LOAN_DISBURSE',
      () => ledgerLoan(service, 'approved'),
      loan => ({ ...disbursal(loan), ...receipt }),
    ],
  ]
  for (const [status, given, dataOf] of cases) {
    const told = async (subject: string) => {
      const id = await submit(service.call, status, dataOf(subject))
      return withoutIds((await ending(service.call, id)).success_response, subject)
    }
    const answered = await told(await given())
    const subject = await given()
    await control(service, 'POST', '/faults', { ...lost('drop', subject), times: 1 })
    t.same(await told(subject), answered, status)
  }
})

t.test('somebody else’s change is not mistaken for ours: the ledger’s answer counts', async t => {
  const faults = new Set<object>()
  const keepFaults = () => control(service, 'PUT', '/faults', [...faults])
  t.jobs = 4
  for (const [name, prepared] of Object.entries(prepare)) {
    t.test(name, async t => {
      const { status, data, subject, command, stranger, isRefused } = await prepared(service)
      const fault = lost('reset', subject)
      faults.add(fault)
      await keepFaults()
      await submit(service.call, status, data)
      // Otherwise its next try may come before the other change.
      const kind = status.startsWith('CLIENT') ? 'client' : 'loan'
      const id = await delay(service, `${kind}:${subject}`)
      faults.delete(fault)
      await keepFaults()
      await stranger()
      const before = (await writesOn(service, subject)).filter(one => one === command).length
      await hurry(service, id)
      const record = await ending(service.call, id)
      t.equal(record.status, isRefused ? 'failed' : 'success')
      const after = (await writesOn(service, subject)).filter(one => one === command).length
      t.equal(after - before, isRefused ? 0 : 1, 'ours')
    })
  }
})

t.test('a caller’s second, equal request fails, because the ledger refuses it', async t => {
  const loan = await ledgerLoan(service)
  const first = await submit(service.call, 'LOAN_APPROVE', approval(loan))
  const second = await submit(service.call, 'LOAN_APPROVE', approval(loan))
  t.match(await ending(service.call, first), { status: 'success' })
  t.match(await ending(service.call, second), { status: 'failed' })
})

/** An answer without the numbers and names that belong to one loan or client. */
function withoutIds(answer: object, subject: string): unknown {
  return JSON.parse(JSON.stringify(answer), (name, value) => {
    if (value === subject) return 'its external id'
    return /^id$|Id$/.test(name) && name !== 'paymentTypeId' ? 'an id' : value
  })
}

/** Makes the writes on this loan or client fail. */
function lost(kind: 'drop' | 'reset', externalId: string) {
  return { kind, match: { on: 'writes', externalId } }
}

function approveElsewhere(service: TestService, loan: string) {
  return atLedger(service, 'POST', `/loans/external-id/${loan}?command=approve`, {
    approvedOnDate: LATER_DAY,
    expectedDisbursementDate: LATER_DAY,
  })
}

async function submitElsewhere(service: TestService, loan: string, client: string) {
  const { id } = await atLedger(service, 'GET', `/clients/external-id/${client}`)

  return atLedger(service, 'POST', '/loans', {
    ...ledgerLoanBody(loan, id, DAY),
    principal: 99_000,
  })
}
