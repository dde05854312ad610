create or replace view ops.payment as
select t.gateway, t.gateway_payment_id, t.kind, t.of_payment_id, t.lender, t.external_loan_id, t.amount, t.currency, t.paid_at,
       t.state, t.reason, t.is_verified as verified, t.ledger_transaction_id, 'raw.' || t.source as raw_table, t.raw_id,
       t.received_at, t.posted_at,
       case when t.state = 'waiting' then 'batch' end as waiting_for,
       -- One that is held for another reason is not tried while that lasts.
       case when t.reason = t.refused_reason then t.next_try_at end as next_try_at,
       t.refused_detail as detail,
       t.hints,
       t.id,
       t.objection
  from core.transaction t
 where t.state <> 'posting'
union all
select t.gateway, t.gateway_payment_id, t.kind, t.of_payment_id, t.lender, t.external_loan_id, t.amount, t.currency, t.paid_at,
       -- What may have arrived at the ledger is no longer waiting to be posted.
       case when o.claimed_by is null and o.unknown_since is null and (o.waiting_for is not null or before.is_unfinished)
            then 'waiting' else 'posting' end,
       null, t.is_verified, null, 'raw.' || t.source, t.raw_id,
       t.received_at, null,
       case when o.unknown_since is not null then 'outcome_unknown'
            when before.is_unfinished then 'predecessor'
            else o.waiting_for end,
       -- A time in the past is none at which it will be tried.
       case when o.claimed_by is null and o.next_try_at > now() then o.next_try_at end,
       o.last_error,
       t.hints,
       t.id,
       t.objection
  from core.transaction t
  left join loanops.operation o on o.id = t.operation_id
 cross join lateral (
   select exists (select from loanops.operation earlier
                   where earlier.subject = o.subject and earlier.status = 'processing' and earlier.seq < o.seq) as is_unfinished) before
 where t.state = 'posting';
comment on view ops.payment is 'What became of each payment, refund and chargeback, and where it came from';

create or replace view ops.suspense as
select * from ops.payment where state = 'suspense';
comment on view ops.suspense is 'Payments that cannot be posted as they are, each with its reason';

create or replace view ops.source as
select s.name as source, s.lender, s.gateway, s.registered_at,
       s.events + p.behind as events, p.behind as events_behind,
       greatest(s.last_event_at, p.last_event_at) as last_event_at
  from core.source s
 cross join lateral (select count(*) as behind, max(received_at) as last_event_at
                       from core.pending_event where source = s.name) p;
comment on view ops.source is 'Each raw table that is a source, and how far the batch is behind it';

create or replace view ops.batch_run as
select id as batch_id, trigger, status, started_at, ended_at, discovered, transformed, posted, suspended, failed,
       requested_at, discover_seconds, transform_seconds, post_seconds, last_error
  from core.batch_run;
comment on view ops.batch_run is 'Each pass of raw → base → core → ledger';
