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

export function currencyByCode(code: string, rounding?: Rounding) {
  return code === USD.code ? { ...USD, ...rounding } : rupee(rounding)
}

const USD = {
  code: 'USD',
  name: 'US Dollar',
  decimalPlaces: 2,
  inMultiplesOf: 0,
  displaySymbol: '$',
  nameCode: 'currency.USD',
  displayLabel: 'US Dollar ($)',
}

const JPY = {
  code: 'JPY',
  name: 'Japanese Yen',
  decimalPlaces: 0,
  inMultiplesOf: 0,
  displaySymbol: '¥',
  nameCode: 'currency.JPY',
  displayLabel: 'Japanese Yen (¥)',
}

const KWD = {
  code: 'KWD',
  name: 'Kuwaiti Dinar',
  decimalPlaces: 3,
  inMultiplesOf: 0,
  nameCode: 'currency.KWD',
  displayLabel: 'Kuwaiti Dinar [KWD]',
}

/** The currencies in use, and some that could be; a real ledger knows every currency there is. */
export const currencies = {
  selectedCurrencyOptions: [INR, USD].map(({ inMultiplesOf: _, ...currency }) => currency),
  currencyOptions: [JPY, KWD],
}
