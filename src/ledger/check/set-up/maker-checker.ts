import { ledgerPath } from '../../calls/path.ts'
import type { Check } from '../finding.ts'
import { ifRead, type Reads, Unread } from '../reads.ts'
import { switchOf } from './configuration.ts'

type Task = { code: string; selected?: boolean }
const TASKS = ledgerPath(['permissions'], { makerCheckerable: 'true' })

/** The ledger holds back nothing that a user with this permission sends. */
const CHECKS_ALL = 'CHECKER_SUPER_USER'

export const makerChecker = (needed: string[]): Check => ({
  check: 'maker_checker',
  expects: 'nothing that LoanOps does waits for a second person at the ledger',
  async run({ reads }) {
    const found = await switchOf(reads, 'maker-checker')
    if (found === undefined) throw new Unread('the ledger does not list maker-checker')
    if (!found.enabled) return { state: 'ok', found: 'maker-checker is off' }
    if ((await ifRead(reads.self()))?.permissions.includes(CHECKS_ALL))
      return {
        state: 'ok',
        found: `maker-checker is on, but LEDGER_USERNAME may check everything itself (${CHECKS_ALL})`,
      }
    const tasks = await checkedTasks(reads, needed)
    if (tasks?.length === 0)
      return { state: 'ok', found: 'maker-checker is on, but for nothing that LoanOps does' }
    return {
      state: 'differs',
      found: `maker-checker is on ${tasks === undefined ? '(LEDGER_USERNAME may not read the tasks)' : `for ${tasks.join(', ')}`}: such operations wait as ledger_approval`,
      remedy: 'Unless this is intended, switch maker-checker off for these tasks at the ledger',
    }
  },
})

/** @returns undefined if our user may not read them */
async function checkedTasks(reads: Reads, needed: string[]): Promise<string[] | undefined> {
  const tasks = await ifRead(reads.list<Task>(TASKS))
  return tasks?.filter(one => one.selected && needed.includes(one.code)).map(({ code }) => code)
}
