-- Days are counted in the ledger's time zone.
-- The earliest time of the day: where clocks go back over midnight, midnight comes twice, and PostgreSQL takes the second.
create or replace function core.start_of(day date, time_zone text) returns timestamptz language sql stable parallel safe as $$
  select case when ((day::timestamp at time zone time_zone - interval '1 hour') at time zone time_zone)::date = day
              then day::timestamp at time zone time_zone - interval '1 hour' else day::timestamp at time zone time_zone end
$$;

create or replace function core.start_of(day date) returns timestamptz language sql stable as $$
  select core.start_of(day, time_zone) from core.day_zone
$$;

create or replace function core.day_of(at timestamptz) returns date language sql stable as $$
  select (at at time zone time_zone)::date from core.day_zone
$$;

-- The next loans to read back: those with payments that were posted in this period, or went back as a whole, and were not read
-- back since its end. They come in order of the posting or reversal, each with the last payment or refund seen. A loan with several
-- of these payments may come again until they are marked.
create or replace function core.loans_to_read_back(since timestamptz, until timestamptz, after timestamptz, after_id uuid,
  most integer, out loans text[], out read_to timestamptz, out read_to_id uuid) language sql stable
  -- The planner always uses the index in this order, whatever the statistics say.
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set enable_hashjoin = off set enable_mergejoin = off as $$
  with page as (
    select coalesce(p.external_loan_id, t.external_loan_id) as external_loan_id, t.posted_at, t.id
      from core.transaction t
      -- A payment of which nothing stands is found by the refunds and chargebacks that were taken out of it.
      left join core.transaction p
        on p.gateway_payment_id = t.of_payment_id and p.gateway = t.gateway and p.kind = 'payment' and t.kind <> 'payment'
     where t.state = 'posted' and (t.kind = 'payment' or p.state = 'returned') and t.posted_at <= until
       and (t.posted_at, t.id) > (coalesce(after, since), coalesce(after_id, '00000000-0000-0000-0000-000000000000'))
       and coalesce(case t.kind when 'payment' then t.read_back_at else p.read_back_at end < until, true)
     order by t.posted_at, t.id
     limit most
  )
  select coalesce(array_agg(distinct external_loan_id) filter (where external_loan_id is not null), '{}'),
         max(posted_at), (array_agg(id order by posted_at desc, id desc))[1]
    from page
$$;

-- How much of the payment stands at its loan, or will once it is posted; below 0 if some of the payer's fee went back too.
create or replace function core.posted_amount(t core.transaction) returns numeric language sql immutable parallel safe as $$
  select coalesce(t.decided_amount, t.amount - coalesce(t.payer_fee, 0)) - coalesce(t.returned_amount, 0)
$$;

-- How much of the payment may still go back: what stands, and the payer's fee, which goes back last.
create or replace function core.returnable_amount(t core.transaction) returns numeric language sql immutable parallel safe as $$
  select core.posted_amount(t) + case when t.decided_amount is null then coalesce(t.payer_fee, 0) else 0 end
$$;

-- All events of a payment, with the refunds and chargebacks that have its id. Each of the two indexes of events by payment has a
-- part of them, so a search that says nothing of `set_aside` would read the events of all payments.
create or replace function core.events_of(wanted_gateway text, payment_id text) returns setof core.event language sql stable as $$
  select * from core.event where gateway_payment_id = payment_id and gateway = wanted_gateway and set_aside is null
  union all
  select * from core.event where gateway_payment_id = payment_id and gateway = wanted_gateway and set_aside is not null
$$;

-- What was posted to these loans in this period; a payment that went back as a whole has the amount 0. An operator's amount and
-- day take precedence over the payment's; otherwise any event of the captured money may have given the day.
create or replace function core.posted_to(loans text[], since timestamptz, until timestamptz, time_zone text)
  returns table (id uuid, loan text, gateway text, payment_id text, operation_id uuid, ledger_transaction_id bigint,
    posting_number integer, amount numeric, days date[]) language sql stable
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
  select t.id, t.external_loan_id, t.gateway, coalesce(t.booked_as, t.gateway_payment_id), t.operation_id,
         t.ledger_transaction_id, t.posting_number, greatest(core.posted_amount(t::core.transaction), 0),
         case when t.decided_day is not null then array[t.decided_day] else array(
           select (t.paid_at at time zone time_zone)::date
           union
           select (e.paid_at at time zone time_zone)::date from core.events_of(t.gateway, t.gateway_payment_id) e
            where e.kind = t.kind and e.status = 'captured' and e.paid_at is not null
            order by 1) end
    from unnest(loans) l (loan)
   cross join lateral (
     -- Each loan is looked up by itself: otherwise the planner reads the whole period for each loan.
     select * from core.transaction t where t.external_loan_id = l.loan offset 0) t
   where t.kind = 'payment'
     and (t.state = 'posted' and t.posted_at >= since and t.posted_at <= until
          or t.state = 'returned' and exists (
               select from core.transaction r
                where r.of_payment_id = t.gateway_payment_id and r.gateway = t.gateway and r.kind <> 'payment' and r.state = 'posted'
                  and r.posted_at >= since and r.posted_at <= until))
$$;

create or replace view ops.readback_run as
select id as run_id, trigger, status, started_at, ended_at, loans, payments, reversed, missing, differing, failed,
       requested_at, last_error
  from core.readback_run;
comment on view ops.readback_run is
  'Each pass over the posted payments, compared with the ledger: what it read, the loans that it failed to read, and the '
  'payments that it newly found reversed, missing or differing';
