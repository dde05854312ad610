import { type RawBuilder, sql } from 'kysely'
import type { Database, Row } from '../../database/database.ts'
import { clientSubject, loanSubject } from '../../engine/operation.ts'
import { decodeCursor, type Shape } from '../../http/lists/cursor.ts'
import type { AttemptItem } from '../../operations/reading/operation-record.ts'
import type { PaymentKind, PaymentState } from '../../payments/payment-record.ts'

const ENTRIES_PER_PAGE = 50
/** A loan has far fewer operations or payments than this: a flood of them cannot delay the page. */
const MAX_SUBJECTS = 5_000

export type Subject = { kind: 'loan' | 'client'; id: string }
/** Which entry of each kind was shown last, because many may have the same time. */
export type Shown = { [Kind in keyof typeof PLACE]?: string }
export const PLACE = {
  operation: ['bigint'],
  payment: ['bigint', 'uuid'],
  callback: ['bigint'],
  action: ['bigint', 'uuid'],
} as const satisfies Record<string, Shape[]>

export type Entry = Placed &
  (
    | { kind: 'operation'; operation: OperationEntry }
    | { kind: 'payment'; payment: PaymentEntry }
    | { kind: 'callback'; callback: CallbackEntry }
    | { kind: 'action'; action: ActionEntry }
  )
type Placed = { at: Date; place: string }
export type OperationEntry = Placed & {
  tracking_id: string
  operation_type: string
  status: 'processing' | 'success' | 'failed'
  waiting_for: string | null
  next_try_at: Date | null
  error_message: string | null
  last_error: string | null
  processed_at: Date | null
  attempts: Omit<AttemptItem, 'attempt' | 'ended_at'>[]
}
export type PaymentEntry = Placed & {
  gateway: string
  gateway_payment_id: string
  kind: PaymentKind
  state: PaymentState
  reason: string | null
  objection: string | null
  waiting_for: string | null
  next_try_at: Date | null
  amount: string | null
  currency: string | null
  returned_amount: string | null
  note: string | null
  noted_by: string | null
  posted_at: Date | null
  events: { received_at: string; source: string }[]
}
export type CallbackEntry = Placed & {
  callback_id: string
  type: string
  state: string
  attempts: number
  last_error: string | null
}
export type ActionEntry = Placed &
  Row<'loanops.audit', 'actor' | 'action' | 'subject'> & { detail: Record<string, unknown> }

/** Operations in the order in which they were accepted, which is not always that of their times. */
async function findOperations(db: Database, subject: Subject, { operation }: Shown) {
  const { rows } = await sql<OperationEntry>`
    select o.tracking_id, o.operation_type, o.status, o.waiting_for, o.next_try_at, o.error_message, o.last_error,
           o.accepted_at as at, o.seq as place, o.processed_at, coalesce(tried.attempts, '[]') as attempts
      from (select o.id from loanops.operation o
             where ${ofSubject(subject)} and ${operation === undefined ? sql`true` : sql`o.seq < ${operation}`}
             order by o.seq desc limit ${ENTRIES_PER_PAGE + 1}) newest
      join loanops.operation_state o on o.id = newest.id
      left join lateral (
        select json_agg(json_build_object('started_at', started_at, 'method', method, 'path', path,
                 'http_status', http_status, 'outcome', outcome, 'times', times) order by attempt) as attempts
          from (select * from ops.operation_attempt a where a.tracking_id = o.tracking_id
                 order by attempt limit ${ENTRIES_PER_PAGE}) a) tried on true
     order by o.seq desc`.execute(db)
  return rows
}

async function findPaymentEntries(db: Database, subject: Subject, { payment }: Shown) {
  if (subject.kind === 'client') return []
  const { rows } = await sql<PaymentEntry>`
    select p.gateway, p.gateway_payment_id, p.kind, p.state, p.reason, p.objection, p.waiting_for, p.next_try_at,
           p.amount::text as amount, p.currency, p.returned_amount::text as returned_amount, t.note, t.noted_by, p.received_at as at,
           ${placeOf('p.received_at', 'p.id')} as place, p.posted_at,
           (select coalesce(json_agg(json_build_object('received_at', e.received_at, 'source', e.source) order by e.received_at), '[]')
              from (select received_at, source from core.event e
                     where e.gateway_payment_id = p.gateway_payment_id and e.gateway = p.gateway and e.kind = p.kind
                       and e.set_aside is null limit ${ENTRIES_PER_PAGE}) e) as events
      from ops.payment p join core.transaction t using (id)
     where p.id = any(array(
       select o.id from (${paymentsOf(subject.id)}) o
        where ${isBefore('o.received_at', 'o.id', payment)}
        order by o.received_at desc, o.id desc limit ${ENTRIES_PER_PAGE + 1}))
     order by p.received_at desc, p.id desc`.execute(db)
  return rows
}

async function findCallbacks(db: Database, subject: Subject, { callback }: Shown) {
  const { rows } = await sql<CallbackEntry>`
    select callback_id, type, state, attempts, last_error, created_at as at, seq as place from ops.callback
     where subject = ${subjectText(subject)} and ${callback === undefined ? sql`true` : sql`seq < ${callback}`}
     order by seq desc limit ${ENTRIES_PER_PAGE + 1}`.execute(db)
  return rows
}

async function findActions(db: Database, subject: Subject, { action }: Shown) {
  const onPayments = sql`
    union all select o.gateway || '/' || o.gateway_payment_id from (${paymentsOf(subject.id)}) o`
  const { rows } = await sql<ActionEntry>`
    select actor, action, subject, detail, at, ${placeOf('at', 'id')} as place from ops.audit
     where subject = any(${subjectText(subject)}::text || array(
       (select loanops.tracking_id(o) from loanops.operation o where ${ofSubject(subject)}
         order by o.seq desc limit ${MAX_SUBJECTS})
       ${subject.kind === 'loan' ? onPayments : sql``}))
       and action not like '%.read' and ${isBefore('at', 'id', action)}
     order by at desc, id desc limit ${ENTRIES_PER_PAGE + 1}`.execute(db)
  return rows
}

const subjectText = ({ kind, id }: Subject) =>
  kind === 'loan' ? loanSubject(id) : clientSubject(id)

/** A loan and a client may have the same id; only the id has an index. */
const ofSubject = (subject: Subject) =>
  sql`o.external_id = ${subject.id} and o.subject = ${subjectText(subject)}`

/** The loan's payments, and the refunds and disputes of these. */
const paymentsOf = (loan: string) => sql`
  with named as materialized (
    select id, received_at, gateway, gateway_payment_id from core.transaction
     where external_loan_id = ${loan} order by id desc limit ${MAX_SUBJECTS})
  select * from named
  union
  select against.id, against.received_at, against.gateway, against.gateway_payment_id
    from named
    join core.transaction against on against.of_payment_id = named.gateway_payment_id
     and against.gateway = named.gateway and against.kind <> 'payment'`

/** The place has the microseconds, which a Date lacks. */
const placeOf = (at: string, id: string) =>
  sql`(extract(epoch from ${sql.ref(at)}) * 1000000)::bigint || '.' || ${sql.ref(id)}`

function isBefore(at: string, id: string, place: string | undefined): RawBuilder<unknown> {
  if (place === undefined) return sql`true`
  const [microseconds, last] = decodeCursor(place, PLACE.payment)
  return sql`(${sql.ref(at)}, ${sql.ref(id)})
    < (timestamptz 'epoch' + ${microseconds}::bigint * interval '1 microsecond', ${last}::uuid)`
}

/** The entries of a subject, the newest first. */
export async function findEntries(db: Database, subject: Subject, shown: Shown) {
  const [callbacks, actions, operations, payments] = await Promise.all([
    findCallbacks(db, subject, shown),
    findActions(db, subject, shown),
    findOperations(db, subject, shown),
    findPaymentEntries(db, subject, shown),
  ])
  // If entries have the same time, an effect is listed above its cause, as the newest come first.
  const found = merged([
    callbacks.map(callback => ({ ...placed(callback), kind: 'callback' as const, callback })),
    actions.map(action => ({ ...placed(action), kind: 'action' as const, action })),
    operations.map(operation => ({ ...placed(operation), kind: 'operation' as const, operation })),
    payments.map(payment => ({ ...placed(payment), kind: 'payment' as const, payment })),
  ])
  const entries = found.slice(0, ENTRIES_PER_PAGE)
  const last = Object.fromEntries(entries.map(({ kind, place }) => [kind, place]))
  return { entries, older: found.length > entries.length ? { ...shown, ...last } : null }
}

const placed = ({ at, place }: Pick<Entry, 'at' | 'place'>) => ({ at, place })

/** Merges lists and keeps the order within each: the next page begins where each of them was left. */
function merged(lists: Entry[][]): Entry[] {
  const left = lists.map(list => [...list])
  const all: Entry[] = []
  for (;;) {
    const [first] = left.filter(list => list.length > 0).toSorted((a, b) => headOf(b) - headOf(a))
    const newest = first?.shift()
    if (newest === undefined) return all
    all.push(newest)
  }
}

const headOf = ([first]: Entry[]) => first?.at.getTime() ?? 0
