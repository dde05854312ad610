import type { NewOperation } from '../../engine/accept.ts'
import type { Attempt, Operation } from '../../engine/operation.ts'
import type { Held } from '../../ledger/held.ts'
import { roundingRefusal } from '../../operations/exact-amount.ts'
import type { Found, Looker } from './looker.ts'

type Finding = Omit<Found, 'line'>

/** Asks, step by step, what the ledger holds of a loan and its client. */
export async function lookAtLoanRow(looker: Looker, steps: NewOperation[]): Promise<Finding> {
  const [client, loan, ...later] = steps as [NewOperation, NewOperation, ...NewOperation[]]
  const refused = await refusalOf(looker, loan, later)
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

async function refusalOf(
  { reference, lenders }: Looker,
  { data }: NewOperation,
  later: NewOperation[],
): Promise<string | null> {
  const name = lenders.get(String(data.lenderConfig))?.product ?? ''
  const product = await reference.product(name)
  if (product === undefined) return `the ledger has no loan product ${name}`
  const amounts = [data.principal, ...later.map(one => one.data.transactionAmount)]
  for (const amount of amounts) {
    const rounded = roundingRefusal(product.currency, amount as number | undefined)
    if (rounded !== undefined) return rounded.body.defaultUserMessage
  }
  return null
}

function hold(looker: Looker, { id, operationType, data }: NewOperation): Promise<Held> {
  const operation = looker.catalogue.get(operationType) as Operation
  const run: Attempt = {
    ledger: looker.ledger,
    reference: looker.reference,
    id,
    // Nothing is written: none of these is used.
    key: '',
    seen: null,
    remember: async () => undefined,
    handedOn: undefined,
    handOn: () => undefined,
  }
  return (operation.holds ?? operation.find)(run, data)
}

const differs = ({ operationType }: NewOperation, how: string): Finding => ({
  finding: 'differs',
  reason: `${operationType}: ${how}`,
})
