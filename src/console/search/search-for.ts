import { type RawBuilder, sql } from 'kysely'
import { unescapeFormula } from '../../csv/formula.ts'
import type { Database } from '../../database/database.ts'
import { clientSubject, loanSubject } from '../../engine/operation.ts'
import { isUuid } from '../../ids.ts'
import { GATEWAYS } from '../../payments/gateways/gateways.ts'
import { REFERENCE_KINDS } from '../../payments/references/reference-record.ts'
import {
  clientPath,
  loanPath,
  operationPath,
  pagePath,
  paymentPath,
  settlementPath,
} from '../frame/paths.ts'

export const MAX_HITS_PER_KIND = 20
/** Quotation marks of English, German and French texts, and what follows an id in a list or a sentence. */
const AROUND_ID = /^["'‘“„«]+|["'‘’“”»,;.]+$/g
const SHA256 = /^[0-9a-f]{64}$/i
/** A payment by its repayment's external id at the ledger, perhaps of one posted again, or as messages name it. */
const NAMED_PAYMENT = new RegExp(`^(${GATEWAYS.join('|')})(?:-(\\w+)(?:-r\\d+)?|/(.+))$`)
/** What a callback's subject has before the name. */
const KIND_OF_SUBJECT = /^(?:loan|client|payment|migration):/

type Hit = { title: string; path: string }
type Found = { kind: string; id: string }

/**
 * People paste an id with the apostrophe that keeps a spreadsheet from computing it, in quotation marks, with the comma after
 * it, as the subject of a callback, or retyped in other letters: what is found under none of these has no such id.
 */
export async function searchFor(db: Database, q: string): Promise<Hit[]> {
  const bare = unescapeFormula(q).replace(AROUND_ID, '')
  const named = bare.replace(KIND_OF_SUBJECT, '')
  for (const spelt of new Set([q, bare, named, bare.toUpperCase(), bare.toLowerCase()])) {
    const hits = await searchExactly(db, spelt)
    if (hits.length > 0) return hits
  }
  return []
}

async function searchExactly(db: Database, q: string): Promise<Hit[]> {
  const hits = await Promise.all([
    operations(db, q),
    subjects(db, q),
    payments(db, q),
    references(db, q),
    settlements(db, q),
    ...(isUuid(q.toLowerCase()) ? [byUuid(db, q.toLowerCase())] : []),
    ...(SHA256.test(q) ? [filesOf(db, q)] : []),
  ])
  return hits.flat()
}

async function operations(db: Database, q: string): Promise<Hit[]> {
  const { rows } = await sql<{ id: string }>`
    select loanops.tracking_id(o) as id from loanops.operation o where loanops.tracking_id(o) = ${q}
    union
    (select loanops.tracking_id(o) from loanops.operation o
      where data ->> 'utr_payment_id' = ${q} limit ${MAX_HITS_PER_KIND})`.execute(db)
  return rows.map(({ id }) => ({ title: `Operation ${id}`, path: operationPath(id) }))
}

/** Loans and clients that an operation, a payment or a reference has named. */
async function subjects(db: Database, q: string): Promise<Hit[]> {
  // Only the id has an index.
  const anyOf = (subject: string) =>
    sql`exists (select from loanops.operation where external_id = ${q} and subject = ${subject})`
  const { rows } = await sql<{ isLoan: boolean; isClient: boolean }>`
    select ${anyOf(loanSubject(q))}
           or exists (select from core.transaction where external_loan_id = ${q})
           or exists (select from core.reference where external_loan_id = ${q}) as "isLoan",
           ${anyOf(clientSubject(q))} as "isClient"`.execute(db)
  const [found] = rows
  return [
    ...(found?.isLoan ? [{ title: `Loan ${q}`, path: loanPath(q) }] : []),
    ...(found?.isClient ? [{ title: `Client ${q}`, path: clientPath(q) }] : []),
  ]
}

/**
 * Payments that have this id, also those that only their gateway's statement or the list of their settlement has. By a
 * reference, only those in suspense and those of the loans that it is registered for are found. An unreadable event is kept
 * under its raw row's id, and the payment that it names is only a hint.
 */
async function payments(db: Database, q: string): Promise<Hit[]> {
  const found = (condition: RawBuilder<unknown>) =>
    sql`(select gateway, gateway_payment_id, kind from core.transaction where ${condition} limit ${MAX_HITS_PER_KIND})`
  const keys = keysOf(q)
  const [, gateway = null, posted, id = posted ?? null] = NAMED_PAYMENT.exec(q) ?? []
  const isNamed = (column: string) =>
    sql`${sql.ref(column)} = any(${[q, id]}) and (${sql.ref(column)} = ${q} or gateway = ${gateway})`
  const loans = sql`array(select external_loan_id from core.reference where key = any(${keys}))`
  const { rows } = await sql<{ gateway: string; gateway_payment_id: string; kind: 'payment' }>`
    ${found(isNamed('gateway_payment_id'))}
    union (select gateway, gateway_payment_id, 'payment'
             from (select gateway, gateway_payment_id from core.current_statement where ${isNamed('gateway_payment_id')}
                   union
                   select gateway, id from core.current_settlement_row where ${isNamed('id')} and kind = 'payment') s
            where not exists (select from core.transaction t
                               where t.gateway_payment_id = s.gateway_payment_id and t.gateway = s.gateway))
    union ${found(sql`problem = 'unreadable' and hints ->> 'payment_id' = ${q}`)}
    union ${found(sql`base.bank_reference(hints) = ${q}`)}
    union ${found(sql`state = 'suspense' and refs && ${keys}`)}
    union ${found(sql`external_loan_id = any(${loans}) and refs && ${keys}`)}
    order by gateway, kind`.execute(db)
  return rows.map(row => ({
    title: `${row.kind} ${row.gateway_payment_id} of ${row.gateway}`,
    path: paymentPath(row),
  }))
}

/** The loans that an id of a payment is registered for. */
async function references(db: Database, q: string): Promise<Hit[]> {
  const { rows } = await sql<{ loan: string; kind: string }>`
    select external_loan_id as loan, kind from core.reference
     where key = any(${keysOf(q)}) order by key, external_loan_id
      limit ${MAX_HITS_PER_KIND}`.execute(db)
  return rows.map(({ loan, kind }) => ({ title: `Loan ${loan}, by ${kind}`, path: loanPath(loan) }))
}

const keysOf = (q: string) =>
  sql`array(select core.reference_key(kind, ${q}) from unnest(${REFERENCE_KINDS}::text[]) kind)`

async function settlements(db: Database, q: string): Promise<Hit[]> {
  const { rows } = await sql<{ id: string }>`
    (select settlement_id as id from core.current_statement where settlement_id = ${q} limit 1)
    union ${withParts(sql`r.settlement_id = ${q}`)}
    union (select settlement_id from core.current_statement where utr = ${q} and settlement_id is not null limit 1)
    union ${withParts(sql`r.utr = ${q}`)}
    -- Its list has a settlement of which only this is left.
    union (select settlement_id from core.current_lost_part where settlement_id = ${q} limit 1)
    union (select settlement_id from core.current_lost_part where utr = ${q} limit 1)`.execute(db)
  return rows.map(({ id }) => ({ title: `Settlement ${id}`, path: settlementPath(id) }))
}

/** Settlements with a row that still is a part of them: a payment is one of that which its statement names. */
const withParts = (isWanted: RawBuilder<unknown>) => sql`
  (select r.settlement_id
     from core.settlement_part r
     left join core.current_statement s on s.gateway_payment_id = r.id and s.gateway = r.gateway and r.kind = 'payment'
    where ${isWanted} and (s.settlement_id <> r.settlement_id) is not true
    limit 1)`

async function byUuid(db: Database, id: string): Promise<Hit[]> {
  const { rows } = await sql<Found>`
    select 'migration' as kind, id::text from loanops.migration where id = ${id}
    union all select 'callback', id::text from loanops.callback where id = ${id}
    union all select 'operation', loanops.tracking_id(o) from loanops.operation o where id = ${id}
    union all select 'statement', id::text from core.statement_file where id = ${id}
    union all select 'batch', id::text from core.batch_run where id = ${id}`.execute(db)
  return rows.map(hitOf)
}

async function filesOf(db: Database, sha256: string): Promise<Hit[]> {
  const ofBytes = sql`file_sha256 = decode(${sha256}, 'hex') limit ${MAX_HITS_PER_KIND}`
  const { rows } = await sql<Found>`
    (select 'migration' as kind, id::text from loanops.migration where ${ofBytes})
    union all (select 'statement', id::text from core.statement_file where ${ofBytes})`.execute(db)
  return rows.map(hitOf)
}

const hitOf = ({ kind, id }: Found): Hit => ({
  title: `${kind} ${id}`,
  path: pagePath(kind, id) ?? '/console',
})
