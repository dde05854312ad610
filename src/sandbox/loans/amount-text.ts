// Fineract prints an amount that was sent as a number through a Java double: 1 becomes 1.0, 10000001 stays
// 10000001, 20000000 becomes 2.0E+7.
export function amountText(sent: unknown): string {
  if (typeof sent !== 'number') return String(sent).trim().replaceAll(',', '')
  if (Math.abs(sent) < 1e7) return Number.isInteger(sent) ? `${sent}.0` : String(sent)
  const [mantissa = '', exponent = '0'] = sent.toExponential().split('e')
  const decimals = Math.max(1, mantissa.split('.')[1]?.length ?? 0)
  if (decimals >= Number(exponent)) return sent.toFixed(decimals - Number(exponent))
  return `${mantissa.includes('.') ? mantissa : `${mantissa}.0`}E${exponent}`
}
