import { setTimeout as sleep } from 'node:timers/promises'
import createError from '@fastify/error'
import type { Database } from '../../database/database.ts'
import { Unavailable } from '../../database/unavailable.ts'
import { addressKey } from '../../http/connections/address-key.ts'
import { openCounts } from '../../http/connections/open-counts.ts'
import { type Account, findAccount } from '../account.ts'
import { type Asker, auditAlone } from '../audit.ts'
import { rehashAccount } from '../change-account.ts'
import { hashPassword, isHashOutdated, isPassword } from '../passwords/password.ts'
import { nameKey } from '../throttling/attempt-keys.ts'
import type { Attempts } from '../throttling/attempts.ts'
import { TooManyAttempts } from '../throttling/too-many-attempts.ts'
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

/** However many addresses attack a name, each process tries at most 86,400 passwords a day for it. */
const APART_MS = 1_000
/** The last in line waits as long as a page of the console may take. */
const MAX_WAITING = 3

type Line = { waiting: number; last: Promise<unknown> }

/** Calls with the same key pass one at a time. */
function slowLine(): (key: string) => Promise<void> {
  const lines = new Map<string, Line>()
  return async key => {
    const line = lines.get(key) ?? { waiting: 0, last: Promise.resolve() }
    if (line.waiting >= MAX_WAITING) throw new TooManyAttempts(MAX_WAITING)
    lines.set(key, line)
    line.waiting++
    line.last = line.last.then(() => sleep(APART_MS))
    await line.last
    line.waiting--
    if (line.waiting === 0) lines.delete(key)
  }
}

/** A quarter of the callers that may wait for a hash: nobody fills the line alone. */
const MAX_OF_ONE_ADDRESS = 25

type AddressLine = <T>(address: string | null, task: () => Promise<T>) => Promise<T>

function addressLine(): AddressLine {
  const inLine = openCounts()
  return async (address, task) => {
    const key = addressKey(address)
    if (inLine.of(key) >= MAX_OF_ONE_ADDRESS)
      throw new Unavailable('too many logins from one address are waiting')
    inLine.add(key, 1)
    try {
      return await task()
    } finally {
      inLine.add(key, -1)
    }
  }
}
