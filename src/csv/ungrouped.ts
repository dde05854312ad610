/** In groups of three, or as in India, of two above the thousand. */
const GROUPED = /^-?(\d{1,3}(,\d{3})+|\d{1,2}(,\d{2})*,\d{3})\.\d+$/

/** Only a decimal point shows what the commas are: `1,234` may be one and a bit. */
export function ungrouped(number: string): string {
  return GROUPED.test(number) ? number.replaceAll(',', '') : number
}
