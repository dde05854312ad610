/** No sign, no exponent, no grouping: `1,00,000` may be a lakh or a mistake. */
const PLAIN = /^\d+(\.\d+)?$/
/** Beyond this a number in JavaScript no longer keeps every digit. */
const SIGNIFICANT_DIGITS = 15

/** @returns the number that the text says exactly, or else the text, which no schema takes for a number */
export function numberOf(text: string): number | string {
  if (!PLAIN.test(text) || text.replace('.', '').length > SIGNIFICANT_DIGITS) return text
  return Number(text)
}
