import { asCsv } from '../../csv/as-csv.ts'
import { escapeFormula } from '../../csv/formula.ts'
import { BUCKETS } from './day-record.ts'
import type { findDays } from './find-days.ts'

const HEADER = [
  'day',
  'lender',
  'gateway',
  'currency',
  'captured_payments',
  'captured_amount',
  ...BUCKETS.flatMap(bucket => [`${bucket}_payments`, `${bucket}_amount`]),
  'balanced',
]

export function daysCsv(days: Awaited<ReturnType<typeof findDays>>): string {
  const lines = days.map(({ day, lender, gateway, currency, captured, buckets, balanced }) => [
    day,
    lender,
    gateway,
    currency ?? '',
    String(captured?.payments ?? ''),
    captured?.amount ?? '',
    ...BUCKETS.flatMap(bucket => [String(buckets[bucket].payments), buckets[bucket].amount]),
    String(balanced),
  ])
  return asCsv([HEADER, ...lines].map(cells => cells.map(escapeFormula)))
}
