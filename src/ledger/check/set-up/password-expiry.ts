import { EXPECTED } from '../connection.ts'
import type { Check } from '../finding.ts'
import { numbered } from '../reads.ts'
import { switchOf } from './configuration.ts'

export const passwordExpiry: Check = {
  check: 'password_expiry',
  expects: EXPECTED.password_expiry,
  async run({ reads }) {
    const { userId, shouldRenewPassword } = await reads.self()
    if (shouldRenewPassword === true)
      return {
        state: 'breaks',
        found: 'the password of LEDGER_USERNAME must be renewed',
        remedy: 'Set a new password at the ledger and in LEDGER_PASSWORD',
      }
    const days = await switchOf(reads, 'force-password-reset-days')
    if (days?.enabled !== true || !days.value) return { state: 'ok', found: 'no password expires' }
    const user = await numbered<{ passwordNeverExpires?: boolean }>(reads, 'users', userId)
    if (user.passwordNeverExpires === true)
      return { state: 'ok', found: 'passwords expire, but not that of LEDGER_USERNAME' }
    return {
      state: 'differs',
      found: `passwords expire ${days.value} days after they were set, and then every operation waits`,
      remedy: 'Tick “password never expires” for LEDGER_USERNAME at the ledger',
    }
  },
}
