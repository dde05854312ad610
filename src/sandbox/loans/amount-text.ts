// The ledger shows an amount that came as a number by way of a Java double: 1 is 1.0,
// 10000001 is 10000001, 20000000 is 2.0E+7.
export function amountText(sent: unknown): string {
  if (typeof sent !== 'number') return String(sent).trim().replaceAll(',', '')
  if (Math.abs(sent) < 1e7) return Number.isInteger(sent) ? `${sent}.0` : String(sent)
  const [mantissa = '', exponent = '0'] = sent.toExponential().split('e')
  const decimals = Math.max(1, mantissa.split('.')[1]?.length ?? 0)
  if (decimals >= Number(exponent)) return sent.toFixed(decimals - Number(exponent))
  return `${mantissa.includes('.') ? mantissa : `${mantissa}.0`}E${exponent}`
}
