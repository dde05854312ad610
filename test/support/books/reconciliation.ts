import { Decimal } from 'decimal.js'
import type { Call } from '../service.ts'

/** The day in India on which test payments are paid, and all of its time. */
export const DAY = '2026-02-05'
export const ALL_DAY = { from: '2026-02-04T18:30:00Z', to: '2026-02-05T18:30:00Z' }

/** The figures of that day. */
export async function reconciliation(call: Call, query = '') {
  const { status, body } = await call('GET', `/api/reconciliation?from=${DAY}&to=${DAY}${query}`)
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body
}

/** The buckets that hold something, as `<payments> <amount>`. */
export function filled({ buckets }: { buckets: object }): Record<string, string> {
  const figures = Object.entries(buckets) as [string, { payments: number; amount: string }][]
  return Object.fromEntries(
    figures
      .filter(([, { payments }]) => payments > 0)
      .map(([bucket, { payments, amount }]) => [bucket, `${payments} ${amount}`]),
  )
}

/** How much a day's buckets differ from what was captured and what is not at the gateway; null where nobody knows. */
export function offBy({ captured, buckets }: any): string | null {
  if (captured === null) return null
  const sum = Decimal.sum(...Object.values<any>(buckets).map(({ amount }) => amount))
  return sum.minus(captured.amount).minus(buckets.not_at_gateway.amount).toFixed()
}
