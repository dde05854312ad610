import { ledgerLoanBody } from '../support/ledger/ledger-loan.ts'
import {
  approval,
  atLedger,
  clientData,
  DAY,
  disbursal,
  ledgerLoan,
  loanData,
  newName,
} from '../support/ledger/loans.ts'
import type { TestService } from '../support/service.ts'
import { approvalOf, clientOf, disbursalOf, type Los, loanOf } from './los.ts'

type Id = Los['id']
type Data = Record<string, unknown>
export type Case = {
  /** What is at the ledger. */
  state: string
  given(service: TestService): Promise<{ data: object; subject: string }>
}

type Sample = {
  /** What it requires, and no more. */
  data(id: Id): Data
  optional?: string[]
  /** Each changes something without the others. */
  alone?: Data
  /** What the ledger refuses once the loan L-kept of the client C-kept is disbursed, and with which status. */
  refused?: [data: (id: Id) => object, sentence: string, status?: string][]
  canBeApplied: Case
  /** It looks done, or almost done, but the ledger refuses it. */
  mustFail: Case
  /** Someone else makes the same change: after a write that was turned away it cannot be ours. */
  doneByAnother?: Case
}

const ofLoan = (external_loan_id: string) => ({ external_loan_id })
/** The terms that every loan here has already. */
const sameTerms = (externalId: string) => ({ externalId, principal: 50_000 })

/** A sample of each operation; the tests of all operations go through them. */
export const SAMPLES: Record<string, Sample> = {
  CLIENT_CREATE: {
    data: id => clientOf(id('C-1')),
    optional: ['mobileNo', 'emailAddress'],
    refused: [[id => clientOf(id('C-kept')), 'an external id is taken once']],
    canBeApplied: onClient('there is no such client', clientData, async () => {}),
    mustFail: onClient('another client has the external id', clientData, (service, client) =>
      ledgerClient(service, client, { firstname: 'Ravi' }),
    ),
    doneByAnother: onClient('an equal client is there', clientData),
  },
  CLIENT_UPDATE: {
    data: id => ({ externalId: id('C-1'), lastname: 'Iyer' }),
    alone: {
      activationDate: '05 March 2026',
      firstname: 'Meera',
      lastname: 'Iyer',
      mobileNo: '+919876543210',
      emailAddress: 'meera@example.in',
    },
    canBeApplied: onClient('the client has another name', externalId => ({
      externalId,
      lastname: 'Iyer',
    })),
    mustFail: {
      state: 'another client has the telephone number',
      async given(service) {
        const [subject, mobileNo] = [newName('C'), newName('9')]
        await ledgerClient(service, subject)
        await ledgerClient(service, newName('C'), { mobileNo })
        return { data: { externalId: subject, mobileNo }, subject }
      },
    },
  },
  LOAN_CREATE: {
    data: id => loanOf(id('L-1'), id('C-1')),
    optional: ['loanTermFrequencyType'],
    refused: [[id => loanOf(id('L-new'), id('C-404')), 'a loan’s client must exist', '404']],
    canBeApplied: { state: 'there is no such loan', given: service => loanCreation(service) },
    mustFail: {
      state: 'an equal loan is approved already',
      given: service => loanCreation(service, 'approve'),
    },
    doneByAnother: {
      state: 'an equal loan is there',
      given: service => loanCreation(service, 'none'),
    },
  },
  LOAN_UPDATE: {
    data: id => ({ externalId: id('L-1'), principal: 60_000 }),
    alone: {
      principal: 1,
      submittedOnDate: '05 March 2026',
      loanTermFrequencyType: 'months',
      numberOfRepayments: 6,
      interestRatePerPeriod: 0,
    },
    refused: [
      [id => ({ externalId: id('L-kept'), principal: 1 }), 'only what awaits approval is updated'],
    ],
    canBeApplied: onLoan('created', externalId => ({ externalId, principal: 70_000 })),
    mustFail: onLoan('disbursed', sameTerms),
  },
  LOAN_APPROVE: {
    data: id => ({ external_loan_id: id('L-1'), approvedOnDate: '05 March 2026' }),
    refused: [
      [id => approvalOf(id('L-kept')), 'a second, equal request is refused'],
      [id => approvalOf(id('L-404')), 'a loan must exist', '404'],
    ],
    canBeApplied: onLoan('created', approval),
    mustFail: onLoan('disbursed', approval),
    doneByAnother: onLoan('approved', approval),
  },
  LOAN_DISBURSE: {
    data: id => ({ external_loan_id: id('L-1'), actualDisbursementDate: '05 March 2026' }),
    optional: ['utr_payment_id', 'note'],
    refused: [[id => disbursalOf(id('L-kept')), 'a second disbursement is refused']],
    canBeApplied: onLoan('approved', disbursal),
    mustFail: onLoan('disbursed', disbursal),
  },
  LOAN_DELETE: {
    data: id => ofLoan(id('L-1')),
    refused: [
      [id => ofLoan(id('L-kept')), 'only what awaits approval is deleted'],
      [id => ofLoan(id('L-404')), 'a loan must exist to be deleted', '404'],
    ],
    canBeApplied: onLoan('created', ofLoan),
    mustFail: onLoan('disbursed', ofLoan),
  },
}

/** An operation on a client that was made at the ledger, unless `make` makes another one. */
function onClient(
  state: string,
  dataOf: (client: string) => object,
  make: (service: TestService, client: string) => Promise<unknown> = ledgerClient,
): Case {
  return {
    state,
    async given(service) {
      const subject = newName('C')
      await make(service, subject)
      return { data: dataOf(subject), subject }
    },
  }
}

/** An operation on a loan that is in this state at the ledger. */
function onLoan(
  state: 'created' | 'approved' | 'disbursed',
  dataOf: (loan: string) => object,
): Case {
  return {
    state: `the loan is ${state}`,
    async given(service) {
      const subject = await ledgerLoan(service, state)
      return { data: dataOf(subject), subject }
    },
  }
}

const inOffice = { officeId: 1, legalFormId: 1, active: true }

/** A client of this name at the ledger. @returns its number there */
async function ledgerClient(service: TestService, externalId: string, fields: object = {}) {
  const body = { ...clientData(externalId), ...inOffice, ...fields }
  return (await atLedger(service, 'POST', '/clients', body)).clientId as number
}

async function loanCreation(service: TestService, command?: 'approve' | 'none') {
  const client = newName('C')
  const clientId = await ledgerClient(service, client)
  const subject = newName('L')
  const approve = { approvedOnDate: DAY, expectedDisbursementDate: DAY }
  if (command) await atLedger(service, 'POST', '/loans', ledgerLoanBody(subject, clientId, DAY))
  if (command === 'approve')
    await atLedger(service, 'POST', `/loans/external-id/${subject}?command=approve`, approve)
  return { data: loanData(subject, client), subject }
}
