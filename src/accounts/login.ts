import createError from '@fastify/error'
import type { Database } from '../database.ts'
import { type Account, findAccount } from './account.ts'
import type { Attempts } from './attempts.ts'
import { rehashAccount } from './change-account.ts'
import { hashPassword, isOutdated, isPassword } from './password.ts'
import type { Turns } from './turns.ts'

export const InvalidCredentials = createError(
  'INVALID_CREDENTIALS',
  'The username or the password is wrong',
  401,
)

/** Tells whether somebody is who they say. */
export type Login = (username: string, password: string, address: string | null) => Promise<Account>

/**
 * An unknown name, a disabled account and a wrong password look and last the same.
 * Attempts are looked up in the turn itself: of many at once, no more get past the count than have their turn together.
 */
export function openLogin(db: Database, attempts: Attempts, inTurn: Turns): Login {
  return (username, password, address) =>
    inTurn(async () => {
      await attempts.check(username, address)
      const account = await findAccount(db, username)
      const isRight = await isPassword(account?.passwordHash, password)
      if (!isRight || account === undefined || account.disabledAt !== null) {
        await attempts.failed(username, address)
        throw new InvalidCredentials()
      }
      await attempts.succeeded(username)
      if (isOutdated(account.passwordHash)) {
        await rehashAccount(db, account, await hashPassword(password))
      }
      return account
    })
}
