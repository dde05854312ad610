create or replace view ops.statement as
select gateway, gateway_payment_id, lender, amount, currency, status, captured_at, fetched_at, source,
       fee, tax, settlement_id, settled_at, utr
  from core.current_statement;
comment on view ops.statement is 'What the gateways themselves report about their payments';

create or replace view ops.statement_file as
select id as statement_id, gateway, lender, file_name, rows, valid_rows, rows - valid_rows as invalid_rows, uploaded_by,
       uploaded_at, withdrawn_by, withdrawn_at, encode(file_sha256, 'hex') as file_sha256,
       (select earlier.id from core.statement_file earlier
         where earlier.file_sha256 = f.file_sha256 and earlier.id < f.id order by earlier.id desc limit 1) as same_as
  from core.statement_file f;
comment on view ops.statement_file is 'The gateways’ reports that were uploaded as files';

-- Settlements with their parts, as the gateway lists them or, if only a file reports them, as in the statement.
-- - Without the gateway's own amounts, a payment adds up once its fee and tax are known.
-- - A settlement never adds up if it has a lost part or several currencies, nor, for any of its lenders, if the gateway states a
--   payout that differs from the sum of the parts.
-- - If a payment is paid out as a whole, its fee was taken from elsewhere, such as fee credits; likewise for a refund that takes
--   nothing off. The fee of one that takes off its amount alone is the payment's, which some reports repeat.
-- - A part that is neither payment nor refund is an adjustment. It belongs to the lender of the settlement's payments, if that is one.
create or replace view ops.settlement as
select gateway, settlement_id, lender, settled_at, utr, payments, gross, fees, tax, refunds, net,
       is_known and is_agreed and currencies <= 1 and stated = net + adjustments and unlisted = 0 as adds_up,
       adjustments, net + adjustments as paid_out,
       case when is_known and currencies <= 1 then stated - net - adjustments + disagreed + unlisted end as off_by
  from (
    select *, gross - fees - tax - refunds as net
      from (
        select gateway, settlement_id, lender, max(settled_at) as settled_at, max(utr) as utr,
               coalesce(sum(parts) filter (where kind = 'payment'), 0)::bigint as payments,
               coalesce(sum(amount) filter (where kind = 'payment'), 0) as gross,
               coalesce(sum(fee) filter (where kind <> 'other'), 0) as fees,
               coalesce(sum(tax) filter (where kind <> 'other'), 0) as tax,
               coalesce(sum(amount) filter (where kind = 'refund'), 0) as refunds,
               coalesce(sum(paid_out) filter (where kind = 'other'), 0) as adjustments,
               bool_and(is_agreed) as is_agreed, sum(disagreed) as disagreed,
               sum(known) = sum(parts) as is_known, count(distinct currency) as currencies,
               coalesce(sum(paid_out) filter (where kind <> 'payout'), 0) as stated, max(unlisted) as unlisted
          from (
            select gateway, settlement_id, max(settled_at) over whole as settled_at,
                   coalesce(utr, max(utr) over whole) as utr, kind, amount, currency, fee, tax, paid_out, parts, known,
                   is_agreed, disagreed,
                   coalesce(sum(parts) filter (where kind <> 'payout') over whole, 0) as listed,
                   -- How much more was paid out than all parts sum up to; unknown if any part's amount is.
                   case when sum(known) over whole < sum(parts) over whole then 0
                        else coalesce(max(most_paid) filter (where kind = 'payout') over whole
                                        - coalesce(sum(paid_out) filter (where kind <> 'payout') over whole, 0), 0) end as unlisted,
                   coalesce(lender, case when min(lender) over whole = max(lender) over whole then min(lender) over whole end,
                     case when min(lender) over whole is null then of_file end, 'UNKNOWN') as lender
              from (
                -- Parts that differ only in their figures are summed up at once: a settlement may have 100,000.
                select gateway, settlement_id, lender, of_file, utr, kind, currency, max(settled_at) as settled_at, count(*) as parts,
                       count(paid_out) as known, sum(amount) as amount, sum(fee) as fee, sum(tax) as tax, sum(paid_out) as paid_out,
                       max(paid_out) as most_paid, bool_and(disagreed = 0) as is_agreed, sum(disagreed) as disagreed
                  from (
                    select r.gateway, r.settlement_id,
                           coalesce(core.lender_of(s.source, s.gateway, s.lender, t.proved_lender), t.lender,
                             case when r.statement_id is null then r.lender end) as lender,
                           r.lender as of_file, r.settled_at, r.utr, r.kind,
                           case when r.kind = 'refund' and r.paid_out = 0 then 0 else r.amount end as amount,
                           coalesce(s.currency, t.currency) as currency, case when is_whole then 0 else r.fee end as fee,
                           case when is_whole then 0 else r.tax end as tax, r.paid_out,
                           -- The gateway reported another amount elsewhere.
                           case when r.kind = 'payment' then r.amount - coalesce(s.amount, r.amount) else 0 end as disagreed
                      from core.settlement_part r
                      left join core.current_statement s on s.gateway_payment_id = r.payment_id and s.gateway = r.gateway
                      -- What the gateway's API says needs nothing of the payment.
                      left join lateral (
                        select core.proved_lender(t) as proved_lender, t.lender, t.currency from core.transaction t
                         where s.source is distinct from 'api'
                           and t.gateway_payment_id = r.payment_id and t.gateway = r.gateway and t.kind = 'payment'
                        offset 0) t on true
                     cross join lateral (
                       select coalesce(case r.kind when 'payment' then r.paid_out = r.amount
                                            when 'refund' then r.paid_out in (0, -r.amount) end,
                         false)) e (is_whole)
                     where (r.kind = 'payment' and s.settlement_id <> r.settlement_id) is not true
                    union all
                    select s.gateway, s.settlement_id, core.lender_of(s.source, s.gateway, s.lender, t.proved_lender), null, s.settled_at,
                           s.utr, 'payment', s.amount, s.currency, s.fee, s.tax, s.amount - s.fee - s.tax, 0
                      from core.current_statement s
                      left join lateral (
                        select core.proved_lender(t) as proved_lender from core.transaction t
                         where s.source = 'file'
                           and t.gateway_payment_id = s.gateway_payment_id and t.gateway = s.gateway and t.kind = 'payment'
                        offset 0) t on true
                     where s.settlement_id is not null and s.status <> 'failed'
                       and not exists (select from core.current_settlement_row r
                                        where r.settlement_id = s.settlement_id and r.gateway = s.gateway and r.kind = 'payment'
                                          and r.id = s.gateway_payment_id)
                    union all
                    select gateway, settlement_id, lender, null, settled_at, utr, 'lost', 0, null, 0, 0, null, 0
                      from core.current_lost_part) part
                 group by gateway, settlement_id, lender, of_file, utr, kind, currency) alike
            window whole as (partition by gateway, settlement_id)) listed
         where kind <> 'payout' or listed = 0
         group by gateway, settlement_id, lender) summed) settlement;
comment on view ops.settlement is 'What the gateways paid out, of which payments, and whether the parts add up to the paisa';

create or replace view ops.backfill as
select id as backfill_id, gateway, lender, window_from as "from", window_to as "to", status, fetched, missed, started_at,
       ended_at, last_error, trigger, requested_at, done_until, account
  from core.backfill;
comment on view ops.backfill is 'Each fetch of payments from a gateway';

-- No event from outside has this id or a later one: their types are counted with the time of the last. A week allows for events that were
-- saved late. Without it, a source that is only fetched from would have each of its events read whenever its last one is looked for.
create or replace function core.none_from_outside_since(wanted_source text) returns uuid language sql stable as $$
  select core.first_id_at(max(last_at) + interval '7 days')
    from core.event_type
   where source = wanted_source and event_type not in ('loanops.backfill', 'LOANOPS_BACKFILL', 'loanops.unreadable')
$$;

-- When a source last received an event from outside, not counting what was fetched.
create or replace function core.last_received(wanted_source text) returns timestamptz language sql stable as $$
  select max(at) from (
    (select received_at from core.event where source = wanted_source and verified_by is distinct from 'gateway_api'
        and raw_id < core.none_from_outside_since(wanted_source)
      order by raw_id desc limit 1)
    union all
    (select received_at from core.pending_event where source = wanted_source order by raw_id desc limit 1)) last (at)
$$;

-- Whether a source sends nothing although it sent several events at the same time in each of the last four weeks. Only the last week
-- is looked at, and events are counted up to ten, so that the cost does not depend on how much a source receives.
create or replace function core.is_silent(wanted_source text) returns boolean language sql stable as $$
  select coalesce(min(events) >= 5, false)
    from (select greatest(core.last_received(wanted_source), now() - interval '7 days')) since (at)
   cross join generate_series(1, 4) week
   cross join lateral (
     select count(*) as events
       from (select from core.event
              where source = wanted_source and verified_by is distinct from 'gateway_api'
                and raw_id >= core.first_id_at(since.at - week * interval '7 days')
                and raw_id < core.first_id_at(now() - week * interval '7 days')
                and raw_id < core.none_from_outside_since(wanted_source)
              limit 10) few) counted
   where since.at is not null
$$;

-- One row per gateway's account, whose lender is null if it serves several, and one per lender that it serves.
create or replace view ops.gateway as
select served.lender, served.gateway, served.last_event_at, run.fetched_until,
       extract(epoch from now() - run.fetched_until)::bigint as behind_seconds,
       case when served.lender is null then all_missed.missed else coalesce(own.missed, 0) end as missed,
       -- Without its credentials, nothing is fetched that could end the error.
       case when core.has_account(served.gateway, served.account) then run.last_error end as last_error, served.is_silent
  from (
    select nullif(a.account, '') as lender, a.gateway, a.account, max(core.last_received(s.name)) as last_event_at,
           coalesce(bool_or(core.is_silent(s.name)), false) as is_silent
      from core.gateway_account a
      left join core.source s on s.gateway = a.gateway and s.lender = a.account
     group by a.gateway, a.account
    union all
    select s.lender, s.gateway, '', core.last_received(s.name), core.is_silent(s.name)
      from core.source s
     where not core.has_account(s.gateway, s.lender)) served
 cross join lateral (
   select (select max(window_to) from core.backfill b
            where b.gateway = served.gateway and b.account = served.account
              and b.trigger = 'schedule' and b.status = 'completed') as fetched_until,
          -- What a fetch that is under way will have to say is not known yet.
          (select last_error from core.backfill b
            where b.gateway = served.gateway and b.account = served.account and (b.status <> 'running' or b.last_error is not null)
            order by b.id desc limit 1) as last_error) run
 cross join lateral (select coalesce(sum(m.missed), 0)::bigint as missed from core.gateway_missed m
                      where m.gateway = served.gateway
                        and not core.has_account(m.gateway, m.lender)) all_missed
  left join core.gateway_missed own on own.gateway = served.gateway and own.lender = served.lender;
comment on view ops.gateway is 'Up to when the payments of each gateway have been fetched, and what its webhooks missed';
