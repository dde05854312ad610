import type { Body } from '../fields/body.ts'
import { type Ledger, today } from '../storage/ledger.ts'
import { openAccount } from '../transactions/account.ts'
import { newLoan } from './new-loan.ts'
import { previewView } from './schedule-view.ts'

export function previewLoan(ledger: Ledger, body: Body) {
  const loan = newLoan(ledger, body)
  const account = openAccount(loan)
  const { principal, scheduled } = loan
  return previewView({ account, principal, from: scheduled.from, today: today(ledger) })
}
