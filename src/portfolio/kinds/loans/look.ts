import type { NewOperation } from '../../../engine/accept.ts'
import { roundingRefusal } from '../../../operations/rounding-refusal.ts'
import { hold } from '../hold.ts'
import type { Finding, Looker, RowFinding, RowToLookAt } from '../looker.ts'

export function lookAtLoans(looker: Looker, rows: RowToLookAt[]): Promise<RowFinding[]> {
  return Promise.all(
    rows.map(async ({ line, steps }) => ({ line, ...(await lookAtRow(looker, steps)) })),
  )
}

async function lookAtRow(looker: Looker, steps: NewOperation[]): Promise<Finding> {
  const [client, loan, ...later] = steps as [NewOperation, NewOperation, ...NewOperation[]]
  const refused = await refusalOf(looker, loan, later)
  if (refused !== null) return { finding: 'refused', reason: refused }
  const heldClient = await hold(looker, client)
  if (heldClient.state === 'differs') return differs(client, heldClient.how)
  const heldLoan = await hold(looker, loan)
  if (heldLoan.state === 'differs') return differs(loan, heldLoan.how)
  if (heldLoan.state === 'absent') {
    const isClientThere = heldClient.state === 'there'
    return { finding: 'new', reason: isClientThere ? 'the ledger already has its client' : null }
  }
  for (const step of later) {
    const held = await hold(looker, step)
    if (held.state === 'differs') return differs(step, held.how)
    if (held.state === 'absent')
      return {
        finding: 'new',
        reason: `the ledger already has the loan; ${step.operationType} is next`,
      }
  }
  return { finding: 'in_ledger', reason: null }
}

async function refusalOf(
  { reference, lenders }: Looker,
  { data }: NewOperation,
  later: NewOperation[],
): Promise<string | null> {
  const name = lenders.get(String(data.lenderConfig))?.product ?? ''
  const product = await reference.findProduct(name)
  if (product === undefined) return `the ledger has no loan product ${name}`
  const amounts = [data.principal, ...later.map(one => one.data.transactionAmount)]
  for (const amount of amounts) {
    const rounded = roundingRefusal(product.currency, amount as number | undefined)
    if (rounded !== undefined) return rounded.body.defaultUserMessage
  }
  return null
}

const differs = ({ operationType }: NewOperation, how: string): Finding => ({
  finding: 'differs',
  reason: `${operationType}: ${how}`,
})
