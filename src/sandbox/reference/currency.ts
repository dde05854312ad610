import type { Rounding } from '../money.ts'

export const INR = {
  code: 'INR',
  name: 'Indian Rupee',
  decimalPlaces: 2,
  inMultiplesOf: 0,
  displaySymbol: '₹',
  nameCode: 'currency.INR',
  displayLabel: 'Indian Rupee (₹)',
}

export const rupee = (rounding?: Rounding) =>
  rounding === undefined ? INR : { ...INR, ...rounding }

export const USD = {
  code: 'USD',
  name: 'US Dollar',
  decimalPlaces: 2,
  inMultiplesOf: 0,
  displaySymbol: '$',
  nameCode: 'currency.USD',
  displayLabel: 'US Dollar ($)',
}
