import createError from '@fastify/error'
import type { Database } from '../../database/database.ts'
import { type Account, findAccount } from '../account.ts'
import { type Asker, auditAlone } from '../audit.ts'
import { rehashAccount } from '../change-account.ts'
import { hashPassword, isHashOutdated, isPassword } from '../passwords/password.ts'
import { addressLine } from '../throttling/address-line.ts'
import { nameKey } from '../throttling/attempt-keys.ts'
import type { Attempts } from '../throttling/attempts.ts'
import { slowLine } from '../throttling/slow-line.ts'
import type { Turns } from '../throttling/turns.ts'

export const InvalidCredentials = createError(
  'INVALID_CREDENTIALS',
  'Wrong username or password',
  401,
)

const PasswordsAreOff = createError(
  'INVALID_CREDENTIALS',
  'Passwords are turned off here: use single sign-on',
  401,
)

/** The name contains a space, so no account can have it. */
export const NO_ACCOUNT = 'no account'

/** @param mayEnter whether an account whose password is right may use it here; any may by default */
export type Login = (
  username: string,
  password: string,
  asker: Asker,
  mayEnter?: (account: Account) => boolean,
) => Promise<Account>

/**
 * An unknown name, a disabled account and a wrong password get the same answer after the same time.
 * Throttled attempts are refused before they wait for a turn, which they would take from others. Attempts are
 * counted inside the turn, so that only as many as have a turn can exceed the limit. A failure is answered only
 * once recorded; throttled attempts are not recorded, which bounds the audit.
 */
export function openLogin(db: Database, attempts: Attempts, inTurn: Turns): Login {
  const passSlowly = slowLine()
  const inAddressLine = addressLine()
  return async (username, password, asker, mayEnter = () => true) => {
    const { isKnown, isSlowed } = await attempts.check({ username, ...asker })
    if (isSlowed) await passSlowly(nameKey(username))
    const verifyInTurn = () => inTurn(() => verify({ username, ...asker }, password), isKnown)
    const { account, isRight } = await (isKnown
      ? verifyInTurn()
      : inAddressLine(asker.address, verifyInTurn))
    const isIn = account !== undefined && isRight && mayEnter(account)
    if (isIn) return account
    // A name that no account has may be a password typed into the wrong field.
    const subject = account?.username ?? NO_ACCOUNT
    await auditAlone(db, { ...asker, action: 'account.login_failed', subject })
    throw isRight ? new PasswordsAreOff() : new InvalidCredentials()
  }

  async function verify(from: { username: string; address: string | null }, password: string) {
    const standing = await attempts.check(from)
    const account = await findAccount(db, from.username)
    const isRight =
      (await isPassword(account?.passwordHash, password)) && account?.disabledAt === null
    if (!isRight) await attempts.failed(from, standing)
    else {
      await attempts.succeeded(from)
      if (account.passwordHash !== null && isHashOutdated(account.passwordHash))
        await rehashAccount(db, account, await hashPassword(password))
    }
    return { account, isRight }
  }
}
