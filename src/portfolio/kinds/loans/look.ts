import { sql } from 'kysely'
import type { Database } from '../../../database/database.ts'
import type { NewOperation } from '../../../engine/accept.ts'
import { LedgerTrouble } from '../../../ledger/answers/answer.ts'
import { findClient } from '../../../ledger/client-record.ts'
import { chargesOf } from '../../../ledger/loans/charges.ts'
import { findLoan } from '../../../ledger/loans/loan-calls.ts'
import type { LoanProduct } from '../../../ledger/loans/product.ts'
import { findEffect } from '../find-effect.ts'
import {
  type DryRunFinding,
  type Looker,
  type RowFinding,
  type RowToLookAt,
  refusedRow,
} from '../looker.ts'
import { whyNoPaymentType } from '../refusals.ts'
import { remembering } from '../remembering.ts'
import { numberTaken } from './number-taken.ts'
import {
  approvalRefusals,
  clientRefusals,
  disbursalRefusals,
  type LoanFacts,
  loanRefusals,
} from './refusals.ts'

export function lookAtLoans(looker: Looker, rows: RowToLookAt[]): Promise<RowFinding[]> {
  return Promise.all(
    rows.map(async row => {
      const ofRow = { ...looker, ledger: remembering(looker.ledger) }
      return { line: row.line, ...(await lookAtRow(ofRow, row)) }
    }),
  )
}

type Steps = [client: NewOperation, loan: NewOperation, ...later: NewOperation[]]

async function lookAtRow(looker: Looker, row: RowToLookAt): Promise<DryRunFinding> {
  const [client, ...ofLoan] = row.steps as Steps
  const found = await productOf(looker, ofLoan[0])
  if ('reason' in found) return refusedRow([found.reason])
  const clientEffect = await findEffect(looker, client)
  if (clientEffect.state === 'differs') return differs(client, clientEffect.how)
  const isClientThere = clientEffect.state === 'there'
  const facts = await factsOf(looker, found, row.steps as Steps, { isClientThere })
  if (!isClientThere) {
    const reasons = [...clientRefusals(client.data, facts), ...(await numberTaken(looker, client))]
    if (reasons.length > 0) {
      const waiting = await waitingFor(looker, row, client, reasons)
      return refusedRow([...waiting, ...refusalsOf(ofLoan, ofLoan, facts)])
    }
  }
  return lookAtSteps(looker, ofLoan, facts, { isClientThere })
}

/** The steps of the loan, up to the first one that is not there yet: the steps after it are not there either. */
async function lookAtSteps(
  looker: Looker,
  steps: NewOperation[],
  facts: LoanFacts,
  { isClientThere }: { isClientThere: boolean },
): Promise<DryRunFinding> {
  const [loan] = steps as [NewOperation]
  for (const [i, step] of steps.entries()) {
    const effect = await findEffect(looker, step)
    if (effect.state === 'differs') return differs(step, effect.how)
    if (effect.state !== 'absent') continue
    const known =
      i === 0 ? facts : { ...facts, loan: await findLoan(looker.ledger, loan.externalId) }
    const reasons = refusalsOf(steps, steps.slice(i), known)
    if (reasons.length > 0) return refusedRow(reasons)
    if (i > 0)
      return {
        finding: 'new',
        reason: `the ledger already has the loan; ${step.operationType} is next`,
      }
    return { finding: 'new', reason: isClientThere ? 'the ledger already has its client' : null }
  }
  return { finding: 'in_ledger', reason: null }
}

function refusalsOf(steps: NewOperation[], toWrite: NewOperation[], facts: LoanFacts): string[] {
  const [loan] = steps as [NewOperation]
  const approval = toWrite.find(({ operationType }) => operationType === 'LOAN_APPROVE')
  const reasons = toWrite.flatMap(({ operationType, data }) => {
    if (operationType === 'LOAN_CREATE') return loanRefusals(data, facts)
    if (operationType === 'LOAN_APPROVE') return approvalRefusals(data, facts)
    return disbursalRefusals(data, facts, loan.data, approval?.data)
  })
  // A row's amount, and its client, may be wrong for several steps.
  return [...new Set(reasons)]
}

type Found = { product: LoanProduct; isCopied: boolean }

/** The product of a row. Only an operator can correct its absence: until then, a run waits. */
async function productOf(
  { reference, lenders }: Looker,
  { data }: NewOperation,
): Promise<Found | { reason: string }> {
  const lender = lenders.get(String(data.lenderConfig))
  const name = lender?.product ?? ''
  const product = await reference.findProduct(name)
  if (product === undefined) return { reason: `the ledger has no loan product ${name}` }
  const isCopied = lender?.terms.toPortfolio === true
  if (!isCopied) return { product, isCopied }
  const withTerms = await reference.productWithTerms(product.id)
  try {
    chargesOf(withTerms, data.principal as number)
  } catch (error) {
    if (error instanceof LedgerTrouble) return { reason: error.message }
    throw error
  }
  return { product, isCopied }
}

async function factsOf(
  { ledger, reference }: Looker,
  found: Found,
  [client, ...ofLoan]: Steps,
  { isClientThere }: { isClientThere: boolean },
): Promise<LoanFacts> {
  const hasReceipt = ofLoan.some(({ data }) => data.utr_payment_id !== undefined)
  return {
    ...found,
    businessDate: await reference.businessDate(),
    openingDate: await reference.openingDate(),
    isClientInactive:
      isClientThere && (await findClient(ledger, client.externalId))?.active === false,
    noPaymentType: hasReceipt ? await whyNoPaymentType(reference) : [],
    loan: undefined,
  }
}

/** All rows of a client share the step that creates it. */
async function waitingFor(
  { db }: Looker,
  { line, migrationId }: RowToLookAt,
  client: NewOperation,
  reasons: string[],
): Promise<string[]> {
  const first = await lineOfClient(db, migrationId, client.externalId)
  if (first === line) return reasons
  return [`its client, which line ${first} creates, would be refused: ${reasons.join('; ')}`]
}

/** @returns the line whose run creates the client: the first one in the order in which a run takes them */
async function lineOfClient(db: Database, migrationId: string, client: string) {
  const { rows } = await sql<{ line: number }>`
    select line from loanops.migration_row
     where migration_id = ${migrationId} and client_external_id = ${client} and state = 'valid'
     order by loan_external_id, on_date, line limit 1`.execute(db)
  return rows[0]?.line
}

const differs = ({ operationType }: NewOperation, how: string): DryRunFinding => ({
  finding: 'differs',
  reason: `${operationType}: ${how}`,
})
