/** No sign, no exponent, no grouping: `1,00,000` may be a lakh or a mistake. */
const PLAIN = /^\d+(\.\d+)?$/
/** A JavaScript number keeps every digit only up to here. */
const SIGNIFICANT_DIGITS = 15

/** @returns the exact number, or the text itself if there is none: no schema accepts that as a number */
export function numberOf(text: string): number | string {
  if (!PLAIN.test(text) || text.replace('.', '').length > SIGNIFICANT_DIGITS) return text
  return Number(text)
}
