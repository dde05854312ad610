import { type Asker, auditAlone } from '../../accounts/audit.ts'
import { type CheckContext, checkAndSave } from './check-and-save.ts'
import { releaseWaiting } from './release-waiting.ts'

type CheckNow = (asker: Asker) => Promise<void>

/** Checks the set-up, and lets the operations that wait for it be tried again. */
export function openCheckNow(context: CheckContext): CheckNow {
  const { db } = context
  let underWay: Promise<void> | undefined

  return async asker => {
    // Callers that ask meanwhile get the same check, so that the ledger is not read more than once at a time.
    underWay ??= checkAndRelease().finally(() => {
      underWay = undefined
    })
    await underWay
    await auditAlone(db, { ...asker, action: 'ledger.check', subject: 'ledger' })
  }

  async function checkAndRelease(): Promise<void> {
    await checkAndSave(context)
    await releaseWaiting(db)
  }
}
