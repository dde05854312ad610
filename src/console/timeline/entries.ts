import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import type { Row } from '../../database/row.ts'

export const ENTRIES_PER_PAGE = 50
const MAX_SUBJECTS = 500

export type Subject = { kind: 'loan' | 'client'; id: string }
export type Entry = { at: Date } & (
  | { kind: 'operation'; operation: OperationEntry }
  | { kind: 'payment'; payment: PaymentEntry }
  | { kind: 'callback'; callback: CallbackEntry }
  | { kind: 'action'; action: ActionEntry }
)
export type OperationEntry = {
  tracking_id: string
  operation_type: string
  status: 'processing' | 'success' | 'failed'
  waiting_for: string | null
  next_try_at: Date | null
  error_message: string | null
  last_error: string | null
  at: Date
  processed_at: Date | null
  attempts: Attempt[]
}
type Attempt = {
  started_at: string
  method: string | null
  path: string | null
  http_status: number | null
  outcome: string | null
  times: number
}
export type PaymentEntry = {
  id: string
  gateway: string
  gateway_payment_id: string
  kind: 'payment' | 'refund' | 'chargeback'
  state:
    | 'waiting'
    | 'posted'
    | 'suspense'
    | 'failed'
    | 'posting'
    | 'returned'
    | 'handled'
    | 'dismissed'
  reason: string | null
  objection: string | null
  waiting_for: string | null
  next_try_at: Date | null
  amount: string | null
  currency: string | null
  note: string | null
  noted_by: string | null
  at: Date
  posted_at: Date | null
  events: { received_at: string; source: string }[]
}
export type CallbackEntry = {
  callback_id: string
  type: string
  state: string
  attempts: number
  last_error: string | null
  at: Date
}
export type ActionEntry = Row<'loanops.audit', 'actor' | 'action' | 'subject' | 'at'> & {
  detail: Record<string, unknown>
}

export async function findEntries(
  db: Database,
  subject: Subject,
  before: string | null,
): Promise<Entry[]> {
  const [operations, payments, callbacks, actions] = await Promise.all([
    findOperations(db, subject, before),
    subject.kind === 'loan' ? findLoanPayments(db, subject.id, before) : [],
    findCallbacks(db, subject, before),
    findActions(db, subject, before),
  ])
  const entries: Entry[] = [
    ...operations.map(operation => ({ at: operation.at, kind: 'operation' as const, operation })),
    ...payments.map(payment => ({ at: payment.at, kind: 'payment' as const, payment })),
    ...callbacks.map(callback => ({ at: callback.at, kind: 'callback' as const, callback })),
    ...actions.map(action => ({ at: action.at, kind: 'action' as const, action })),
  ]
  return entries.sort((a, b) => b.at.getTime() - a.at.getTime()).slice(0, ENTRIES_PER_PAGE + 1)
}

const earlier = (column: string, before: string | null): RawBuilder<unknown> =>
  before === null ? sql`true` : sql`${sql.ref(column)} < ${before}::timestamptz`

/** A loan and a client may have the same id. */
const ofKind = ({ kind }: Subject) =>
  kind === 'client'
    ? sql`o.operation_type like 'CLIENT\\_%'`
    : sql`o.operation_type not like 'CLIENT\\_%'`

async function findOperations(db: Database, subject: Subject, before: string | null) {
  const { rows } = await sql<OperationEntry>`
    select o.tracking_id, o.operation_type, o.status, o.waiting_for, o.next_try_at, o.error_message, o.last_error,
           o.accepted_at as at, o.processed_at, coalesce(tried.attempts, '[]') as attempts
      from (select * from loanops.operation_state o
             where o.external_id = ${subject.id} and ${ofKind(subject)} and ${earlier('o.accepted_at', before)}
             order by o.seq desc limit ${ENTRIES_PER_PAGE + 1}) o
      left join lateral (
        select json_agg(json_build_object('started_at', started_at, 'method', method, 'path', path,
                 'http_status', http_status, 'outcome', outcome, 'times', times) order by attempt) as attempts
          from (select * from ops.operation_attempt a where a.tracking_id = o.tracking_id
                 order by attempt limit ${ENTRIES_PER_PAGE}) a) tried on true
     order by o.seq desc`.execute(db)
  return rows
}

async function findLoanPayments(db: Database, loan: string, before: string | null) {
  const { rows } = await sql<PaymentEntry>`
    with named as (
      select id, gateway, gateway_payment_id, kind from core.transaction
       where external_loan_id = ${loan} and ${earlier('received_at', before)}
       order by id desc limit ${ENTRIES_PER_PAGE + 1}
    )
    select p.id, p.gateway, p.gateway_payment_id, p.kind, p.state, p.reason, p.objection, p.waiting_for, p.next_try_at,
           p.amount::text as amount, p.currency, t.note, t.noted_by, p.received_at as at, p.posted_at,
           (select coalesce(json_agg(json_build_object('received_at', e.received_at, 'source', e.source) order by e.received_at), '[]')
              from (select received_at, source from core.event e
                     where e.gateway_payment_id = p.gateway_payment_id and e.gateway = p.gateway and e.kind = p.kind
                       and e.set_aside is null limit ${ENTRIES_PER_PAGE}) e) as events
      from ops.payment p join core.transaction t using (id)
     where p.id = any(array(
                    select id from named
                    union select against.id from core.transaction against join named n
                       on against.of_payment_id = n.gateway_payment_id and against.gateway = n.gateway
                          and against.kind <> 'payment'))
     order by p.received_at desc limit ${ENTRIES_PER_PAGE + 1}`.execute(db)
  return rows
}

async function findCallbacks(db: Database, { kind, id }: Subject, before: string | null) {
  const { rows } = await sql<CallbackEntry>`
    select callback_id, type, state, attempts, last_error, created_at as at from ops.callback
     where subject = ${`${kind}:${id}`} and ${earlier('created_at', before)}
     order by seq desc limit ${ENTRIES_PER_PAGE + 1}`.execute(db)
  return rows
}

async function findActions(db: Database, subject: Subject, before: string | null) {
  const { rows } = await sql<ActionEntry>`
    select actor, action, subject, detail, at from ops.audit
     where subject = any(array(
       (select o.operation_type || '|' || o.id from loanops.operation o
         where o.external_id = ${subject.id} and ${ofKind(subject)} order by o.seq desc limit ${MAX_SUBJECTS})
       union all
       (select t.gateway || '/' || t.gateway_payment_id from core.transaction t
         where ${subject.kind === 'loan'} and t.external_loan_id = ${subject.id} order by t.id desc limit ${MAX_SUBJECTS})))
       and ${earlier('at', before)}
     order by at desc limit ${ENTRIES_PER_PAGE + 1}`.execute(db)
  return rows
}
