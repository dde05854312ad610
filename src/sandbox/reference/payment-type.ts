export type PaymentType = {
  id: number
  name: string
  description: string
  isCashPayment: boolean
  position: number
  codeName?: string
  isSystemDefined: boolean
}

export const firstPaymentTypes: PaymentType[] = [
  system(1, 'Money Transfer'),
  { ...system(2, 'Repayment Adjustment Chargeback'), isSystemDefined: true },
  { ...system(3, 'Repayment Adjustment Refund'), isSystemDefined: true },
  { ...system(4, 'LoanOps'), description: 'Loan operations', codeName: '' },
]

function system(id: number, name: string): PaymentType {
  const codeName = id === 1 ? {} : { codeName: name.toUpperCase().replaceAll(' ', '_') }
  const rest = { isCashPayment: false, position: 1, ...codeName, isSystemDefined: false }
  return { id, name, description: name, ...rest }
}
