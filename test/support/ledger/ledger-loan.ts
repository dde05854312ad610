export type LoanState = 'created' | 'approved' | 'disbursed'

type LedgerLoan = {
  until: LoanState
  day: string
  /** What the client has besides its name, and the loan besides or instead of `ledgerLoanBody`. */
  client?: object
  terms?: object
}

/** The body that creates a loan over twelve months at the ledger. */
export const ledgerLoanBody = (externalId: string, clientId: number, day: string) => ({
  loanType: 'individual',
  loanTermFrequency: 12,
  loanTermFrequencyType: 2,
  numberOfRepayments: 12,
  repaymentEvery: 1,
  repaymentFrequencyType: 2,
  interestType: 0,
  interestCalculationPeriodType: 1,
  amortizationType: 1,
  transactionProcessingStrategyCode: 'mifos-standard-strategy',
  clientId,
  productId: 1,
  externalId,
  principal: 50_000,
  interestRatePerPeriod: 18,
  submittedOnDate: day,
  expectedDisbursementDate: day,
})

/**
 * Creates a client and its loan directly at the ledger.
 * @param post returns the answer's body, whatever its status
 * @returns the body that created the loan
 */
export async function makeLedgerLoan(
  post: (path: string, body: object) => Promise<any>,
  externalId: string,
  { until, day, client = {}, terms = {} }: LedgerLoan,
): Promise<object> {
  const { clientId } = await made('/clients', {
    officeId: 1,
    legalFormId: 1,
    firstname: 'Asha',
    lastname: 'Rao',
    active: true,
    activationDate: day,
    ...client,
  })
  const loan = { ...ledgerLoanBody(externalId, clientId, day), ...terms }
  await made('/loans', loan)
  const command = `/loans/external-id/${externalId}?command`
  const approval = { approvedOnDate: day, expectedDisbursementDate: day }
  if (until !== 'created') await made(`${command}=approve`, approval)
  if (until === 'disbursed') await made(`${command}=disburse`, { actualDisbursementDate: day })
  return loan

  async function made(path: string, body: object) {
    const answer = await post(path, body)
    if (answer?.resourceId === undefined) throw new Error(JSON.stringify(answer))
    return answer
  }
}
