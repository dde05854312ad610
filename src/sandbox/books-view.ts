import { displayName } from './clients/client.ts'
import { isDisbursed, statusView } from './loans/status.ts'
import { type Paise, rupees } from './money.ts'
import type { Ledger } from './storage/ledger.ts'

/** What tests compare with what they expect. Amounts are decimal strings. */
export function booksView({ books }: Ledger) {
  return {
    clients: [...books.clients.values()].map(client => ({
      id: client.id,
      externalId: client.externalId ?? null,
      name: displayName(client),
      mobileNo: client.mobileNo ?? null,
      emailAddress: client.emailAddress ?? null,
      active: client.active,
      activationDate: client.activatedOn ?? null,
    })),
    loans: [...books.loans.values()].map(loan => ({
      id: loan.id,
      externalId: loan.externalId ?? null,
      clientExternalId: books.clients.get(loan.clientId)?.externalId ?? null,
      productId: loan.productId,
      status: loan.status,
      statusCode: statusView(loan.status).code,
      principal: decimal(loan.principal),
      outstanding: isDisbursed(loan.status) ? decimal(books.accountOf(loan).outstanding) : null,
      overpaid: isDisbursed(loan.status) ? decimal(books.accountOf(loan).overpaid) : null,
      submittedOn: loan.submittedOn,
      expectedDisbursementDate: loan.expectedDisbursementDate,
      approvedOn: loan.approvedOn ?? null,
      disbursedOn: loan.disbursedOn ?? null,
      closedOn: loan.closedOn ?? null,
    })),
    transactions: [...books.transactions.values()].map(transaction => ({
      id: transaction.id,
      loanExternalId: books.loans.get(transaction.loanId)?.externalId ?? null,
      externalId: transaction.externalId ?? null,
      type: transaction.type,
      amount: decimal(transaction.amount),
      date: transaction.date,
      receiptNumber: transaction.payment?.receiptNumber || null,
      reversed: transaction.reversedOn !== undefined,
    })),
  }
}

const decimal = (amount: Paise): string => rupees(amount).toFixed(2)
