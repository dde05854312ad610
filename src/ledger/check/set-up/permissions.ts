import { ledgerPath } from '../../calls/path.ts'
import type { Check, Found } from '../finding.ts'
import { ifRead, PAYMENT_TYPES, type Reads, type Unread } from '../reads.ts'

const READ_PERMISSIONS = ['READ_CLIENT', 'READ_LOAN', 'READ_LOANPRODUCT', 'READ_PAYMENTTYPE']
const PAYMENT_PERMISSIONS = ['REPAYMENT_LOAN', 'ADJUST_LOAN']

/** These permissions suffice for every operation and every payment. */
export function neededBy(operations: Iterable<{ permissions?: string[] }>): string[] {
  const ofOperations = [...operations].flatMap(({ permissions = [] }) => permissions)
  return [...READ_PERMISSIONS, ...ofOperations, ...PAYMENT_PERMISSIONS]
}

const ONE = { limit: '1' }
const TRIED = [
  ['READ_CLIENT', ledgerPath(['clients'], ONE)],
  ['READ_LOAN', ledgerPath(['loans'], ONE)],
  ['READ_LOANPRODUCT', ledgerPath(['loanproducts'])],
  ['READ_PAYMENTTYPE', PAYMENT_TYPES],
] as const

export const permissions = (needed: string[]): Check => ({
  check: 'permissions',
  expects: `LEDGER_USERNAME has ${needed.join(', ')}`,
  async run({ reads }) {
    // Undefined where the ledger does not list them, with OAuth for example.
    const listed = (await ifRead(reads.self()))?.permissions
    const missing =
      listed === undefined
        ? await refusedReads(reads)
        : needed.filter(permission => !isHeld(permission, listed))
    if (missing.length > 0) return lacking(missing)
    return listed === undefined
      ? {
          state: 'unknown',
          found: 'every read is allowed; which writes are, the ledger does not say',
          remedy: 'Compare the role of LEDGER_USERNAME at the ledger with this list',
        }
      : { state: 'ok', found: 'the user has all of them' }
  },
})

async function refusedReads(reads: Reads): Promise<string[]> {
  const refused: string[] = []
  for (const [permission, path] of TRIED) {
    const code = await reads.read(path).then(
      () => null,
      error => (error as Unread).code,
    )
    if (code === 'error.msg.not.authorized') refused.push(permission)
  }
  return refused
}

function isHeld(permission: string, held: string[]): boolean {
  const all = permission.startsWith('READ_') ? ['ALL_FUNCTIONS_READ'] : []
  return ['ALL_FUNCTIONS', ...all, permission].some(one => held.includes(one))
}

const lacking = (missing: string[]): Found => ({
  state: 'breaks',
  found: `the user lacks ${missing.join(', ')}`,
  remedy: `Give a role of LEDGER_USERNAME ${missing.join(', ')} at the ledger`,
})
