import { LedgerTrouble } from '../../ledger/answers/answer.ts'
import { openLedger } from '../../ledger/calls/client.ts'
import { bodyIfReadable } from '../../ledger/calls/if-readable.ts'
import { ledgerPath } from '../../ledger/calls/path.ts'
import type { LedgerSettings } from '../../ledger/calls/send.ts'
import { findLoan } from '../../ledger/loans/loan-calls.ts'
import { THROW_AWAY } from './throw-away.ts'

/** Each check leaves a client, however it ended: nobody will have more than this. */
const AT_MOST = '1000'
// The ledger compares the external id by LIKE.
const CLIENTS = ledgerPath(['clients'], { externalId: `${THROW_AWAY}%`, limit: AT_MOST })
type Page = { pageItems?: { externalId?: string }[] }

/** @returns the names of the loans left by checks that ended before they could remove them */
export async function loansLeftEarlier(settings: LedgerSettings): Promise<string[]> {
  const ledger = openLedger(settings)
  try {
    const page = await bodyIfReadable(ledger.read<Page>(CLIENTS))
    const left: string[] = []
    for (const { externalId = '' } of page?.pageItems ?? [])
      if (externalId.startsWith(THROW_AWAY) && (await findLoan(ledger, externalId)))
        left.push(externalId)
    return left
  } catch (error) {
    // The check that follows says why the ledger cannot be read.
    if (error instanceof LedgerTrouble) return []
    throw error
  } finally {
    await ledger.close()
  }
}
