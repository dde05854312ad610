import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../../src/database/database.ts'

const PER_STATEMENT = 500_000
const DAYS = 100
/** Most loans have this many operations. */
const PER_LOAN = 5

type Sizes = { operations: number; payments: number }

/** What years leave behind: operations of every origin, type and end, payments with an event and a statement each, callbacks, audit. */
export async function fillHistory(db: Database, { operations, payments }: Sizes): Promise<void> {
  // One connection, because the settings are its own.
  await db.connection().execute(async connection => {
    await sql`set session_replication_role = replica`.execute(connection)
    await sql`set maintenance_work_mem = '1GB'`.execute(connection)
    const indexes = await dropIndexes(connection)
    for (const [count, add] of [
      [operations, addOperations],
      [payments, addPayments],
    ] as const)
      for (let from = 0; from < count; from += PER_STATEMENT)
        await add(connection, from, Math.min(from + PER_STATEMENT, count), count)
    await addRawRows(connection)
    for (const index of indexes) await sql.raw(index).execute(connection)
    await sql`vacuum analyze`.execute(connection)
  })
}

/** Adds each event's body to the table of its source, which a batch has found. */
async function addRawRows(db: Database): Promise<void> {
  const { rows } = await sql<{ store: string }>`
    select raw.make_store('LENDER_0' || n, 'gateway_' || g) as store
     from generate_series(1, 9) n, unnest(array['a', 'b']) g`.execute(db)
  for (const { store } of rows)
    await sql`
      insert into ${sql.table(`raw.${store}`)} (id, received_at, event_type, body)
      select raw_id, received_at, 'payment.captured', convert_to('{"id":"' || gateway_payment_id || '"}', 'UTF8')
        from core.event where source = ${store}`.execute(db)
  for (const { store } of rows) await sql`select raw.register(${store})`.execute(db)
}

/** Each index at once takes a fraction of the time that its rows one by one do. @returns how to make them again */
async function dropIndexes(db: Database): Promise<string[]> {
  const { rows } = await sql<{ name: string; definition: string }>`
    select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition
      from pg_index i
     where indrelid in ('loanops.operation'::regclass, 'core.transaction'::regclass, 'core.event'::regclass,
                        'core.statement'::regclass, 'loanops.callback'::regclass, 'loanops.audit'::regclass)
       and not exists (select from pg_constraint where conindid = indexrelid)`.execute(db)
  for (const { name } of rows) await sql.raw(`drop index ${name}`).execute(db)
  return rows.map(({ definition }) => definition)
}

/** A UUIDv7 of the time at which the n-th of `count` came. */
const idOf = (count: number) =>
  sql`(lpad(to_hex((extract(epoch from ${timeOf(count)}) * 1000)::bigint), 12, '0') || '7000' || '8000' || lpad(to_hex(n), 12, '0'))::uuid`
const timeOf = (count: number): RawBuilder<unknown> =>
  sql`(now() - make_interval(secs => (${count}::integer - n) * ${(DAYS * 86_400) / count}::float8))`

/** The newest 2,000 are unfinished; one in 200 has failed; one loan has one in 500 of all, with an attempt each. */
async function addOperations(db: Database, from: number, to: number, count: number) {
  await sql`
    with made as (
      insert into loanops.operation (id, operation_type, origin, subject, external_id, data, status, attempt, attempts,
        waiting_for, unknown_since, response, error_message, accepted_at, processed_at, request_id)
      select ${idOf(count)}, type, origin, case when type like 'CLIENT%' then 'client:' else 'loan:' end || external_id, external_id,
             json_build_object('externalId', external_id, 'utr_payment_id', 'UTR' || n), status, 1, (n > ${count - 1_000})::integer,
             case when n > ${count - 1_000} then (array['outcome_unknown', 'ledger_approval', 'ledger_busy'])[1 + n % 3] end,
             case when n > ${count - 1_000} and n % 3 = 0 then now() end,
             case status when 'success' then '{"resourceId":1}'
               when 'failed' then '{"errors":[{"userMessageGlobalisationCode":"error.msg.loan.' || n % 7 || '"}]}' end::json,
             case status when 'failed' then 'The loan is not in a state in which this can be done' end,
             at, case when status <> 'processing' then at + interval '2 s' end, 'req-' || n
        from (
          select n, ${timeOf(count)} as at,
                 case when n % 10 < 4 then 'payment' when n % 10 < 6 then 'migration' else 'api' end as origin,
                 case when n % 10 < 4 then 'REPAYMENT' when n % 1000000 = 9 then 'CLIENT_UPDATE'
                   else (array['LOAN_CREATE', 'LOAN_APPROVE', 'LOAN_DISBURSE', 'CLIENT_CREATE'])[1 + n % 4] end as type,
                 case when n % 500 = 2 then 'L-HOT' else 'L-' || n % ${Math.ceil(count / PER_LOAN)}::integer end as external_id,
                 case when n > ${count - 2_000} then 'processing' when n % 200 = 1 then 'failed' else 'success' end as status
            from generate_series(${from + 1}::integer, ${to}::integer) n) o
      returning id, accepted_at, seq)
    insert into loanops.operation_attempt (operation_id, attempt, started_at, ended_at, method, path, http_status, outcome)
    select id, 1, accepted_at, accepted_at, 'POST', '/loans/1/transactions', 200, 'done' from made
     where seq % 10 = 2`.execute(db)
}

/** One in a hundred is in suspense for one of five reasons, and one in fifty is a refund. */
async function addPayments(db: Database, from: number, to: number, count: number) {
  await sql`
    with p as (
      select n, ${idOf(count)} as id, 'gateway_' || chr(97 + n % 2) as gateway, 'LENDER_0' || 1 + n % 9 as lender,
             case when n % 50 = 3 then 'refund' else 'payment' end as kind, ${timeOf(count)} as at,
             case when n % 100 = 0 then 'suspense' when n > ${count - 500} then 'waiting' else 'posted' end as state
        from generate_series(${from + 1}::integer, ${to}::integer) n
    ), events as (
      insert into core.event (source, raw_id, gateway, kind, gateway_payment_id, status, amount, currency, paid_at, external_loan_id,
        lender, received_at)
      select lower(lender) || '_' || gateway, id, gateway, kind, 'pay_' || n, 'captured', 1000, 'INR', at, 'L-' || n, lender, at from p
    ), statements as (
      insert into core.statement (gateway, gateway_payment_id, lender, amount, currency, status, captured_at, source, settlement_id)
      select gateway, 'pay_' || n, lender, 1000, 'INR', 'captured', at, 'api', 'setl_' || n / 1000 from p where kind = 'payment'
    ), callbacks as (
      insert into loanops.callback (id, type, subject, about, occurred_at, state, sequence, body, created_at)
      select id, 'payment.posted', 'loan:L-' || n, id, at, case when n > ${count - 3_000} then 'pending' when n % 1000 = 0 then 'failed'
             else 'delivered' end, 1, '{}', at from p
    ), audits as (
      insert into loanops.audit (id, at, actor, action, subject, detail)
      select id, at, 'user.' || n % 20, 'payment.note', gateway || '/pay_' || n, '{"note":"asked the lender"}' from p
    )
    insert into core.transaction (id, gateway, kind, gateway_payment_id, of_payment_id, lender, named_loan_id, amount, currency, paid_at,
      is_captured, is_verified, state, reason, source, raw_id, received_at, posted_at, suspended_at, objection)
    select id, gateway, kind, 'pay_' || n, case kind when 'refund' then 'pay_' || n - 1 end, lender,
           case when n % 300 <> 0 then 'L-' || n end, 1000, 'INR', at, true, true, state,
           case state when 'suspense' then
             (array['no_loan_named', 'loan_unknown', 'loan_not_active', 'lender_mismatch', 'refund'])[1 + n / 100 % 5] end,
           lower(lender) || '_' || gateway, id, at, case state when 'posted' then at end, case state when 'suspense' then at end,
           case when n % 2000 = 11 then 'refund' end
      from p`.execute(db)
}
