/**
 * The decimals that a column may have, zeros included: where a comma separates decimals, `500.000` is half a million, and
 * `12.000` is twelve thousand.
 */
const DECIMALS = { whole: 0, amount: 2, rate: 6 }
export type NumberReading = keyof typeof DECIMALS

/** A number without sign, exponent and grouping: `1,00,000` may be a lakh or a mistake. */
const PLAIN = /^\d+(\.(\d+))?$/
/** With so many digits, a JavaScript number keeps every one. */
const SIGNIFICANT_DIGITS = 15
/** A number in groups of three digits or, as in India, of two above the thousand. */
const GROUPED = /^-?(\d{1,3}(,\d{3})+|\d{1,2}(,\d{2})*,\d{3})\.\d+$/

/** @returns the number, or the text if it is not such a number */
export function numberIn(text: string, reading: NumberReading): number | string {
  if (!isNumber(text, reading) || text.replace('.', '').length > SIGNIFICANT_DIGITS) return text
  return Number(text)
}

export function isNumber(text: string, reading: NumberReading): boolean {
  const plain = PLAIN.exec(text)
  if (plain === null) return false
  return (plain[2]?.length ?? 0) <= DECIMALS[reading]
}

/** The number without its grouping. Only a decimal point shows what the commas are: `1,234` may be one and a bit. */
export function ungrouped(number: string): string {
  return GROUPED.test(number) ? number.replaceAll(',', '') : number
}
