import type { Check } from '../finding.ts'
import { numbered, Unread } from '../reads.ts'

type Office = { id: number; name: string; parentId?: number }

export const office: Check = {
  check: 'office',
  expects: 'LEDGER_OFFICE_ID is the head office, and so is the office of LEDGER_USERNAME',
  async run({ reads, settings: { LEDGER_OFFICE_ID: id } }) {
    const find = (one: number) => numbered<Office>(reads, 'offices', one)
    const ofClients = await find(id).catch(missing)
    if (ofClients === undefined)
      return {
        state: 'breaks',
        found: `the ledger has no office ${id} that LEDGER_USERNAME may see`,
        remedy: 'Set LEDGER_OFFICE_ID to the number of an office at the ledger',
      }
    const ofUser = await find((await reads.self()).officeId)
    const branches = [ofUser, ofClients].filter(({ parentId }) => parentId !== undefined)
    if (branches.length === 0) return { state: 'ok', found: `both are ${ofClients.name} (${id})` }
    return {
      state: 'differs',
      found: `new clients belong to ${ofClients.name} (${id}), and the user to ${ofUser.name} (${ofUser.id}): it does not see the clients and loans of other offices`,
      remedy:
        'Unless LoanOps is for this branch alone, move LEDGER_USERNAME to the head office at the ledger, and set LEDGER_OFFICE_ID',
    }
  },
}

function missing(error: unknown): undefined {
  const isMissing = error instanceof Unread && error.code === 'error.msg.office.id.invalid'
  if (!isMissing) throw error
}
