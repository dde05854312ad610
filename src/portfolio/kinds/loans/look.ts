import type { NewOperation } from '../../../engine/accept.ts'
import { hold } from '../hold.ts'
import type { Finding, Found, Looker, RowToLookAt } from '../looker.ts'

/** Asks, step by step, what the ledger holds of a loan and its client. */
export function lookAtLoans(looker: Looker, rows: RowToLookAt[]): Promise<Found[]> {
  return Promise.all(
    rows.map(async ({ line, steps }) => ({ line, ...(await lookAtRow(looker, steps)) })),
  )
}

async function lookAtRow(looker: Looker, steps: NewOperation[]): Promise<Finding> {
  const [client, loan, ...later] = steps as [NewOperation, NewOperation, ...NewOperation[]]
  const refused = await refusalOf(looker, loan)
  if (refused !== null) return { finding: 'refused', reason: refused }
  const heldClient = await hold(looker, client)
  if (heldClient.state === 'differs') return differs(client, heldClient.how)
  const heldLoan = await hold(looker, loan)
  if (heldLoan.state === 'differs') return differs(loan, heldLoan.how)
  if (heldLoan.state === 'absent') {
    const isClientThere = heldClient.state === 'there'
    return { finding: 'new', reason: isClientThere ? 'its client is in the ledger already' : null }
  }
  for (const step of later) {
    const held = await hold(looker, step)
    if (held.state === 'differs') return differs(step, held.how)
    if (held.state === 'absent')
      return {
        finding: 'new',
        reason: `the loan is in the ledger already; ${step.operationType} is next`,
      }
  }
  return { finding: 'in_ledger', reason: null }
}

async function refusalOf({ reference, lenders }: Looker, { data }: NewOperation) {
  const product = lenders.get(String(data.lenderConfig))?.product ?? ''
  if ((await reference.product(product)) !== undefined) return null
  return `the ledger has no loan product ${product}`
}

const differs = ({ operationType }: NewOperation, how: string): Finding => ({
  finding: 'differs',
  reason: `${operationType}: ${how}`,
})
