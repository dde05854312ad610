import type { FastifyError } from 'fastify'
import type { Database } from '../../database/database.ts'
import type { Account } from '../account.ts'
import { type Asker, auditAlone } from '../audit.ts'
import type { Attempts } from '../throttling/attempts.ts'
import { endSessionsOf, enterAccount } from './enter-account.ts'
import { NO_ACCOUNT } from './login.ts'
import type { Person } from './person.ts'

/** With the name of an account that is disabled, or the person to whom the issuer gives no role. */
type Refusal = FastifyError & { username?: string; person?: Pick<Person, 'issuer' | 'subject'> }

/**
 * A refused single sign-on counts against its address and is recorded like a wrong password. Throttled ones are not
 * recorded, which bounds the audit.
 */
export function openSignOn(db: Database, attempts: Attempts) {
  return async (asker: Asker, identify: () => Promise<Person>): Promise<Account> => {
    await attempts.checkSignOn(asker.address)
    try {
      return await enterAccount(db, asker, await identify())
    } catch (error) {
      // An unavailable issuer does not count as a failed login.
      const { statusCode = 500, code, username, person } = error as Refusal
      if (statusCode >= 500) throw error
      await attempts.signOnFailed(asker.address)
      const leaver = person && (await endSessionsOf(db, person))
      const subject = username ?? leaver ?? NO_ACCOUNT
      const detail = { by: 'single sign-on', code }
      await auditAlone(db, { ...asker, action: 'account.login_failed', subject, detail })
      throw error
    }
  }
}
