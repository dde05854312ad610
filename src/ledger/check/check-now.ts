import { type Asker, auditAlone } from '../../accounts/audit.ts'
import { oneAtATime } from '../../queue/one-at-a-time.ts'
import { type CheckContext, checkAndSave } from './check-and-save.ts'
import { releaseWaiting } from './release-waiting.ts'

/** Checks the set-up, and lets the operations that wait for it be tried again. */
export function openCheckNow(context: CheckContext) {
  const { db } = context
  // The ledger is not read more than once at a time, however many callers ask.
  const check = oneAtATime(async () => {
    await checkAndSave(context)
    await releaseWaiting(db)
  })
  return async (asker: Asker): Promise<void> => {
    await check()
    await auditAlone(db, { ...asker, action: 'ledger.check', subject: 'ledger' })
  }
}
