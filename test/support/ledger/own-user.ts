import type { TestService } from '../service.ts'
import { driver } from './ledger-driver.ts'

/** The settings with which LoanOps has a user of its own, as it should: what `mifos` does is somebody else's. */
export const OWN_USER = { LEDGER_USERNAME: 'loanops', LEDGER_PASSWORD: 'Change-this-1' }

export function addOwnUser({ ledger }: Pick<TestService, 'ledger'>) {
  return driver(ledger.url).call('POST', '/users', {
    username: OWN_USER.LEDGER_USERNAME,
    password: OWN_USER.LEDGER_PASSWORD,
    repeatPassword: OWN_USER.LEDGER_PASSWORD,
    firstname: 'Loan',
    lastname: 'Ops',
    officeId: 1,
    roles: [1],
    sendPasswordToEmail: false,
    passwordNeverExpires: true,
  })
}
