/** No sign, no exponent, no grouping: `1,00,000` may be a lakh or a mistake. */
const PLAIN = /^\d+(\.\d+)?$/
/** Up to here, a JavaScript number keeps every digit. */
const SIGNIFICANT_DIGITS = 15

export function numberOf(text: string): number | string {
  if (!PLAIN.test(text) || text.replace('.', '').length > SIGNIFICANT_DIGITS) return text
  return Number(text)
}
