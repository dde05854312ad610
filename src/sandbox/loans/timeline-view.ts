import { day } from '../http/wire.ts'
import type { Loan } from './loan.ts'
import { REJECTED, WITHDRAWN } from './status.ts'

export function timelineView(loan: Loan) {
  return {
    submittedOnDate: day(loan.submittedOn),
    ...by('submitted'),
    approvedOnDate: day(loan.approvedOn),
    ...(loan.approvedOn === undefined ? {} : by('approved')),
    expectedDisbursementDate: day(loan.expectedDisbursementDate),
    actualDisbursementDate: day(loan.disbursedOn),
    ...(loan.disbursedOn === undefined ? {} : by('disbursed')),
    actualMaturityDate: day(loan.expectedMaturityDate),
    expectedMaturityDate: day(loan.expectedMaturityDate),
    rejectedOnDate: loan.status === REJECTED ? day(loan.closedOn) : undefined,
    withdrawnOnDate: loan.status === WITHDRAWN ? day(loan.closedOn) : undefined,
    closedOnDate: day(loan.closedOn),
    ...(loan.closedOn === undefined ? {} : by('closed')),
  }
}

function by(what: string) {
  return {
    [`${what}ByUsername`]: 'mifos',
    [`${what}ByFirstname`]: 'App',
    [`${what}ByLastname`]: 'Administrator',
  }
}
