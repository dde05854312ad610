type Option = { id: number; code: string; value: string }

const PERIODS = ['days', 'weeks', 'months', 'years']

export function frequency(kind: 'termFrequency' | 'repaymentFrequency', id: number): Option {
  const period = PERIODS[id] ?? 'invalid'
  const value = period.charAt(0).toUpperCase() + period.slice(1)
  return { id, code: `${kind}.periodFrequencyType.${period}`, value }
}

export function rateFrequency(id: number): Option {
  const period = PERIODS[id] ?? 'invalid'
  const code = `interestRateFrequency.periodFrequencyType.${period}`
  return { id, code, value: `Per ${period.replace(/s$/, '')}` }
}

export const PER_YEAR = rateFrequency(3)

const EQUAL_PRINCIPAL = {
  id: 0,
  code: 'amortizationType.equal.principal',
  value: 'Equal principal payments',
}
const EQUAL_INSTALMENTS = {
  id: 1,
  code: 'amortizationType.equal.installments',
  value: 'Equal installments',
}
const DECLINING = { id: 0, code: 'interestType.declining.balance', value: 'Declining Balance' }
const FLAT = { id: 1, code: 'interestType.flat', value: 'Flat' }

export function amortization(id: number): Option {
  return id === 0 ? EQUAL_PRINCIPAL : EQUAL_INSTALMENTS
}

export function interestMethod(id: number): Option {
  return id === 0 ? DECLINING : FLAT
}

const SAME_AS_REPAYMENT: Option = {
  id: 1,
  code: 'interestCalculationPeriodType.same.as.repayment.period',
  value: 'Same as repayment period',
}

const DAILY: Option = { id: 0, code: 'interestCalculationPeriodType.daily', value: 'Daily' }

export function interestCalculation(id: number): Option {
  return id === 0 ? DAILY : SAME_AS_REPAYMENT
}

export const ACTUAL_MONTH: Option = { id: 1, code: 'DaysInMonthType.actual', value: 'Actual' }
export const ACTUAL_YEAR: Option = { id: 1, code: 'DaysInYearType.actual', value: 'Actual' }
export const CUMULATIVE: Option = { id: 0, code: 'CUMULATIVE', value: 'Cumulative' }
export const HORIZONTAL: Option = { id: 0, code: 'HORIZONTAL', value: 'Horizontal' }
