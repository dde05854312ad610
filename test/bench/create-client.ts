import { Pool } from 'undici'
import { LEDGER_HEADERS } from '../support/ledger/ledger-driver.ts'
import { clientData } from '../support/ledger/loans.ts'

/** Creates clients at a ledger by calls that do nothing else. @returns the call, and how to close its connections */
export function clientCreator(ledgerUrl: string, connections: number) {
  const { origin, pathname } = new URL(ledgerUrl)
  const pool = new Pool(origin, { connections, pipelining: 1 })
  return {
    async create(externalId: string): Promise<void> {
      const { statusCode, body: answer } = await pool.request({
        method: 'POST',
        path: `${pathname}/clients`,
        headers: { ...LEDGER_HEADERS, 'idempotency-key': externalId },
        body: JSON.stringify({
          officeId: 1,
          legalFormId: 1,
          active: true,
          ...clientData(externalId),
          dateFormat: 'dd MMMM yyyy',
          locale: 'en',
        }),
      })
      const created = await answer.json()
      if (statusCode !== 200) throw new Error(JSON.stringify(created))
    },
    close: () => pool.close(),
  }
}
