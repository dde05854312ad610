/** When a charge falls due. */
export const AT_DISBURSEMENT = 1
export const ON_A_DAY = 2
export const PER_INSTALMENT = 8
export const WHEN_OVERDUE = 9

/** How its amount is worked out. */
export const FLAT = 1
const PERCENT_OF_AMOUNT = 2
export const PERCENT_OF_AMOUNT_AND_INTEREST = 3
export const PERCENT_OF_INTEREST = 4

export type Charge = {
  id: number
  name: string
  active: boolean
  penalty: boolean
  currencyCode: string
  // A number of rupees, or a percentage.
  amount: string
  appliesTo: number
  time: number
  calculation: number
  paymentMode: number
}

const TIMES: Record<number, [code: string, value: string]> = {
  [AT_DISBURSEMENT]: ['disbursement', 'Disbursement'],
  [ON_A_DAY]: ['specifiedDueDate', 'Specified due date'],
  [PER_INSTALMENT]: ['instalmentFee', 'Installment Fee'],
  [WHEN_OVERDUE]: ['overdueInstallment', 'Overdue Fees'],
}
const CALCULATIONS: Record<number, [code: string, value: string]> = {
  [FLAT]: ['flat', 'Flat'],
  [PERCENT_OF_AMOUNT]: ['percent.of.amount', '% Amount'],
  [PERCENT_OF_AMOUNT_AND_INTEREST]: ['percent.of.amount.and.interest', '% Loan Amount + Interest'],
  [PERCENT_OF_INTEREST]: ['percent.of.interest', '% Interest'],
}

export function isKnownTime(id: number | undefined): boolean {
  return id !== undefined && id in TIMES
}

export function isKnownCalculation(id: number | undefined): boolean {
  return id !== undefined && id in CALCULATIONS
}

export function chargeTimeType(id: number) {
  const [code, value] = TIMES[id] ?? ['invalid', 'Invalid']
  return { id, code: `chargeTimeType.${code}`, value }
}

export function chargeCalculationType(id: number) {
  const [code, value] = CALCULATIONS[id] ?? ['invalid', 'Invalid']
  return { id, code: `chargeCalculationType.${code}`, value }
}

export function chargePaymentMode(id: number) {
  return id === 0
    ? { id, code: 'chargepaymentmode.regular', value: 'Regular' }
    : { id, code: 'chargepaymentmode.accounttransfer', value: 'Account Transfer' }
}

export function chargeAppliesTo(id: number) {
  const [code, value] = id === 1 ? ['loan', 'Loan'] : ['client', 'Client']
  return { id, code: `chargeAppliesTo.${code}`, value }
}
