import type { Static } from '@sinclair/typebox'
import { Decimal } from 'decimal.js'
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { equalTo } from '../../database/equal-to.ts'
import { BUCKETS, type Bucket, type ReconciledDay, type Totals } from './day-record.ts'

type Figure = { payments: number; amount: string }
type DayRow = Omit<Static<typeof ReconciledDay>, 'buckets'> & { buckets: Record<Bucket, Figure> }
type Filter = { from: string; to: string; lender?: string; gateway?: string }

export async function findDays(db: Database, filter: Filter): Promise<DayRow[]> {
  const { from, to, lender, gateway } = filter
  const { rows } = await sql<DayRow>`
    select day::text as day, lender, gateway, currency, balanced, statement,
           case when captured_payments is not null
             then jsonb_build_object('payments', captured_payments, 'amount', captured_amount::text) end as captured,
           jsonb_object_agg(bucket, jsonb_build_object('payments', payments, 'amount', amount::text)) as buckets
      from ops.reconciliation
     where day between ${from} and ${to}
       and ${equalTo({ lender, gateway })}
     group by day, lender, gateway, currency, balanced, statement, captured_payments, captured_amount
     order by day, lender, gateway, currency`.execute(db)
  return rows.map(row => ({
    ...row,
    captured: row.captured && toThePaisa(row.captured),
    buckets: eachBucket(bucket => toThePaisa(row.buckets[bucket])),
  }))
}

/** Without any day, nothing is known: neither whether a statement covers the period, nor whether it is balanced. */
export function totalOf(days: DayRow[]): Static<typeof Totals> {
  // Where the currency could not be read, there is usually no amount either.
  const currencies = new Set(days.filter(hasAmount).map(({ currency }) => currency))
  const sum = (figures: Figure[]) => ({
    payments: figures.reduce((total, { payments }) => total + payments, 0),
    amount: currencies.size > 1 ? null : decimal(Decimal.sum(0, ...figures.map(one => one.amount))),
  })
  const captured = days.flatMap(day => day.captured ?? [])
  const isKnown = days.length > 0
  return {
    day: null,
    lender: null,
    gateway: null,
    currency: currencies.size === 1 ? ([...currencies][0] ?? null) : null,
    captured: isKnown && captured.length === days.length ? sum(captured) : null,
    statement: statementOf(days),
    buckets: eachBucket(bucket => sum(days.map(({ buckets }) => buckets[bucket]))),
    balanced: isKnown && days.every(({ balanced }) => balanced),
  }
}

const hasAmount = ({ currency, buckets }: DayRow) =>
  currency !== null || BUCKETS.some(bucket => !new Decimal(buckets[bucket].amount).isZero())

function statementOf(days: DayRow[]): DayRow['statement'] {
  if (days.length === 0 || days.some(({ statement }) => statement === null)) return null
  return days.every(({ statement }) => statement === 'complete') ? 'complete' : 'partial'
}

const eachBucket = <T>(value: (bucket: Bucket) => T): Record<Bucket, T> =>
  Object.fromEntries(BUCKETS.map(bucket => [bucket, value(bucket)])) as Record<Bucket, T>

const toThePaisa = ({ payments, amount }: Figure): Figure => ({
  payments,
  amount: decimal(new Decimal(amount)),
})

const decimal = (amount: Decimal): string => amount.toFixed(Math.max(2, amount.decimalPlaces()))
