import { newId } from '../../ids.ts'
import { LedgerTrouble } from '../../ledger/answers/answer.ts'
import type { Ledger } from '../../ledger/calls/client.ts'
import { ledgerPath } from '../../ledger/calls/path.ts'
import { findClient } from '../../ledger/client-record.ts'
import { dayFormat } from '../../ledger/day-format.ts'
import { dayThere } from '../../ledger/effect.ts'
import { findLoan, type LoanWithTransactions } from '../../ledger/loans/loan-calls.ts'
import { stands } from '../../ledger/loans/transaction.ts'

/**
 * Undoes the writes in reverse. What the ledger refuses to undo stays, because its user may lack permissions that no
 * operation needs.
 * @returns what stays
 */
export async function cleanUp(ledger: Ledger, name: string): Promise<string[]> {
  try {
    const loan = await findLoan(ledger, name, 'transactions')
    if (loan !== undefined) await removeLoan(ledger, loan)
    const left = await findLoan(ledger, name, 'transactions')
    const client = await findClient(ledger, name)
    return [
      ...(left === undefined ? [] : [`the loan ${name} (${left.status.value})`]),
      ...(client === undefined ? [] : [`the client ${name}, which can be closed at the ledger`]),
    ]
  } catch (error) {
    if (!(error instanceof LedgerTrouble)) throw error
    return [`whatever there is of ${name}: it could not be read (${error.message})`]
  }
}

async function removeLoan(ledger: Ledger, { id, transactions = [] }: LoanWithTransactions) {
  const write = (
    method: 'POST' | 'DELETE',
    below: (string | number)[],
    command?: string,
    body = {},
  ) =>
    ledger.write({
      method,
      path: ledgerPath(['loans', id, ...below], command === undefined ? {} : { command }),
      ...(method === 'POST' ? { body } : {}),
      key: newId(),
      promisedId: 'resourceId',
    })
  const repayments = transactions.filter(one => one.type?.repayment && stands(one))
  for (const one of repayments)
    await write('POST', ['transactions', one.id], 'undo', {
      transactionDate: dayThere(one.date),
      transactionAmount: 0,
      ...dayFormat,
    })
  await write('POST', [], 'undodisbursal')
  await write('POST', [], 'undoapproval')
  await write('DELETE', [])
}
