import { sql } from 'kysely'
import { Counter, Histogram, type Registry } from 'prom-client'
import type { Measured } from '../ops/measured.ts'

export const PAYMENT_CRASH_POINTS = [
  'webhook.committed',
  'events.saved',
  'batch.claimed',
  'batch.registered',
  'batch.transformed',
  'batch.posting',
  'posting.recorded',
  'batch.unended',
] as const

/** Only the booking of a refund passes these. */
export const REVERSAL_CRASH_POINTS = ['batch.reversing', 'reversal.recorded'] as const

/** Only a payment with a fee of its payer passes this. */
export const FEE_CRASH_POINTS = ['repayment.fee-saved'] as const

export function paymentCounters(registers: Registry[]) {
  const reversals = new Counter({
    name: 'loanops_reversals_total',
    help: 'Refunds, chargebacks and restored payments that the ledger booked or refused, by outcome',
    labelNames: ['outcome'],
    registers,
  })
  // Prometheus sees no increase in the first figure of a series.
  for (const outcome of ['booked', 'refused']) reversals.inc({ outcome }, 0)
  return {
    reversals,
    events: new Counter({
      name: 'loanops_payment_events_total',
      help: 'Payment events stored, by gateway and lender',
      labelNames: ['gateway', 'lender'],
      registers,
    }),
    repeatedEvents: new Counter({
      name: 'loanops_payment_events_repeated_total',
      help: 'Payment events received more than once, by gateway',
      labelNames: ['gateway'],
      registers,
    }),
    signatureFailures: new Counter({
      name: 'loanops_signature_failures_total',
      help: 'Payment events refused for their signature, by gateway and lender',
      labelNames: ['gateway', 'lender'],
      registers,
    }),
    overpaidRepayments: new Counter({
      name: 'loanops_overpaid_repayments_total',
      help: 'Repayments larger than the amount outstanding on their loan',
      registers,
    }),
    batchSeconds: new Histogram({
      name: 'loanops_batch_seconds',
      help: 'Duration of a batch run’s stages',
      labelNames: ['stage'],
      buckets: [0.05, 0.25, 1, 5, 15, 60, 300, 1_800],
      registers,
    }),
  }
}

/** Enough rows of each source and state to have the oldest one among them. */
const MAX_READ = 1_000

const lag: Measured = {
  metrics: {
    lag: {
      name: 'loanops_payment_lag_seconds',
      help: 'Age of the oldest payment event that no batch has transformed, or how long a payment has been due but not posted',
    },
  },
  // The first rows in each index are the oldest, because ids grow with time. (A row that waits again, or is read again, has
  // waited for less.) Nobody expects payments to be posted during a pause, before their gateway has confirmed them, or before
  // somebody has approved them, or what comes before them on their loan, at the ledger.
  query: sql`
    with recursive source (name) as (
      (select source from core.pending_event order by source limit 1)
      union all
      select (select source from core.pending_event where source > s.name order by source limit 1)
        from source s where s.name is not null
    ), pause (ended_at) as (
      select max(coalesce(until, 'infinity')) from loanops.ledger_pause
    ), oldest (received_at) as (
      select (select min(p.received_at) from (select received_at, again from core.pending_event
                                               where source = s.name order by raw_id limit ${MAX_READ}) p
               where not p.again)
        from source s
      union all
      select greatest(t.received_at, t.waiting_since, pause.ended_at)
        from unnest(array['waiting', 'posting']) wanted (state)
       cross join lateral (
         select received_at, waiting_since, unconfirmed, state, operation_id from core.transaction
          where state = wanted.state order by id limit ${MAX_READ}) t
       cross join pause
       where t.unconfirmed is null
         and not (t.state = 'posting' and exists (
           select from loanops.operation o join loanops.operation p on p.subject = o.subject and p.seq <= o.seq
            where o.id = t.operation_id and p.status = 'processing' and p.waiting_for = 'ledger_approval'))
    )
    select coalesce(extract(epoch from now() - min(received_at)), 0)::float8 as lag from oldest where received_at <= now()`,
}

const suspense: Measured = {
  metrics: {
    count: {
      name: 'loanops_payments_in_suspense',
      help: 'Payments, refunds and chargebacks in suspense, by reason',
      labels: ['reason'],
    },
  },
  query: sql`select reason, count(*) from core.transaction where state = 'suspense' group by reason`,
}

const objections: Measured = {
  metrics: {
    count: {
      name: 'loanops_payments_with_objection',
      help: 'Payments that later events or the ledger contradict, by objection',
      labels: ['objection'],
    },
  },
  query: sql`select objection, count(*) from core.transaction where objection is not null group by objection`,
}

const unknown: Measured = {
  metrics: {
    events: {
      name: 'loanops_unknown_events_total',
      help: 'Payment events of types that are not listed, by source',
      labels: ['source'],
      isTotal: true,
    },
    // A batch reads half an hour's events at once, also those of a new source, so the count may begin with all of them.
    age: {
      name: 'loanops_unknown_event_age_seconds',
      help: 'Age of the last payment event of a type that is not listed, by source',
      labels: ['source'],
    },
  },
  query: sql`
    select source, sum(events) as events, extract(epoch from now() - max(last_at))::float8 as age
      from core.event_type where taken = 'unknown' and events > 0 group by source`,
}

const misfits: Measured = {
  metrics: {
    misfits: {
      name: 'loanops_raw_tables_without_source',
      help: 'Tables in raw that cannot become sources, because of their name or columns',
    },
  },
  query: sql`select count(*) as misfits from raw.misfits()`,
}

export const paymentGauges = [lag, suspense, objections, unknown, misfits]
