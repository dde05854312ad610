import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { invalidField } from '../../http/problem.ts'
import type { Frequency } from '../../ledger/loans/loan.ts'
import { wholeTerm } from './whole-term.ts'

type Terms = {
  loanTermFrequency?: number
  loanTermFrequencyType?: Frequency
  numberOfRepayments?: number
}

/**
 * Refuses a term without its type, or a type without its term, for a loan whose term was converted, as 1 year became 12
 * months. There, a caller who sends the term 2 means years, but the ledger would take months; one who sends the type
 * "years" means 1, but the ledger would take 12. A `key` that is known already was accepted, whatever has changed since.
 */
export async function refuseUntypedTerm(
  db: Database,
  { externalId, loanTermFrequency, loanTermFrequencyType }: Terms & { externalId: string },
  key: string | null,
): Promise<void> {
  const isTyped = loanTermFrequencyType !== undefined
  if (isTyped === (loanTermFrequency !== undefined)) return
  const converted = lastConverted(await termsOf(db, externalId, key))
  if (converted === undefined) return
  const { before, after } = converted
  throw invalidField(
    isTyped ? '/data/loanTermFrequency' : '/data/loanTermFrequencyType',
    `is required, because the loan's term of ${textOf(before)} became ${textOf(after)}`,
  )
}

const textOf = (term: Terms) => `${term.loanTermFrequency} ${term.loanTermFrequencyType}`

/** The terms that operations on a loan named, oldest first, without those that failed; none if the key is known. */
async function termsOf(db: Database, externalId: string, key: string | null) {
  const { rows } = await sql<{ isNew: boolean; terms: Terms }>`
    select operation_type = 'LOAN_CREATE' as "isNew", data as terms
      from loanops.operation
     where external_id = ${externalId} and operation_type in ('LOAN_CREATE', 'LOAN_UPDATE') and status <> 'failed'
       and not exists (select from loanops.operation where idempotency_key = ${key})
     order by seq`.execute(db)
  return rows
}

function lastConverted(rows: { isNew: boolean; terms: Terms }[]) {
  let numberOfRepayments = 0
  let last: { before: Terms; after: Terms } | undefined
  for (const { isNew, terms } of rows) {
    numberOfRepayments = terms.numberOfRepayments ?? numberOfRepayments
    const { loanTermFrequency, loanTermFrequencyType = isNew ? 'months' : undefined } = terms
    if (loanTermFrequencyType === undefined) continue
    last = undefined
    if (loanTermFrequency === undefined || numberOfRepayments === 0) continue
    const before = { loanTermFrequency, loanTermFrequencyType, numberOfRepayments }
    const after = wholeTerm(before)
    if (after !== before) last = { before, after }
  }
  return last
}
