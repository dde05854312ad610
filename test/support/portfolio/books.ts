import { booksAt, LEDGER_HEADERS } from '../ledger/ledger-driver.ts'
import type { ExpectedLoan } from './portfolio.ts'
import { rupees } from './portfolio.ts'

/** The generated loans as they are in the sandbox's books, in the same form as the generator's expectations. */
export async function loansAsExpected(
  ledger: { url: string; controlUrl: string },
  expected: ExpectedLoan[],
) {
  const books = await booksAt(ledger.controlUrl)
  const repayments = new Map<string | null, number>()
  for (const one of books.transactions) {
    if (one.type === 'repayment' && !one.reversed)
      repayments.set(one.loanExternalId, (repayments.get(one.loanExternalId) ?? 0) + 1)
  }
  const loans = new Map(books.loans.map(loan => [loan.externalId, loan]))
  const found = []
  for (const { externalId, status } of expected) {
    const loan = loans.get(externalId)
    const principalPaid =
      status >= 300 ? await principalPaidOn(ledger.url, Number(loan?.id)) : '0.00'
    found.push({
      externalId,
      status: loan?.status,
      principalPaid,
      outstanding: loan?.outstanding ?? '0.00',
      overpaid: loan?.overpaid ?? '0.00',
      repayments: repayments.get(externalId) ?? 0,
    })
  }
  return found
}

export function asText(expected: ExpectedLoan[]) {
  return expected.map(({ principalPaid, outstanding, overpaid, ...rest }) => ({
    ...rest,
    principalPaid: rupees(principalPaid),
    outstanding: rupees(outstanding),
    overpaid: rupees(overpaid),
  }))
}

async function principalPaidOn(url: string, id: number): Promise<string> {
  const response = await fetch(`${url}/loans/${id}`, { headers: LEDGER_HEADERS })
  const loan = (await response.json()) as any
  return Number(loan.summary.principalPaid).toFixed(2)
}
