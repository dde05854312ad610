import { Decimal } from 'decimal.js'

/**
 * The currencies whose minor unit is not a hundredth (ISO 4217), by their decimals. base.major_units reads the same items in
 * the database and lists the same currencies: if the two disagreed, a payment would have two amounts.
 */
const DECIMALS = new Map(
  Object.entries({
    0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
    3: 'BHD IQD JOD KWD LYD OMR TND',
    4: 'CLF UYW',
  }).flatMap(([decimals, currencies]) =>
    currencies.split(' ').map(currency => [currency, Number(decimals)] as const),
  ),
)
const USUAL_DECIMALS = 2

export function majorUnits(minor: bigint, currency: string | null): string {
  const decimals = DECIMALS.get(currency ?? '') ?? USUAL_DECIMALS
  return new Decimal(String(minor)).div(10 ** decimals).toFixed(decimals)
}
