-- Whether a statement of a gateway and lender concerns this lender: one for no lender concerns all that have no
-- credentials of their own.
create or replace function core.concerns(of_gateway text, of_lender text, wanted_lender text) returns boolean
  language sql stable as $$
  select case when of_lender is null
           then not core.has_account(of_gateway, wanted_lender)
           else of_lender = wanted_lender end
$$;

-- Whether the fetches cover the day as a whole, and what the last file that covers the day says of itself, null without
-- such a file.
create or replace function core.coverage_of(wanted_gateway text, wanted_lender text, day date,
  out is_fetched boolean, out is_partly_read boolean, out is_partial_file boolean) language sql stable as $$
  with of_day as (
    select tstzrange(core.start_of(day), core.start_of(day + 1)) as times
  )
  select coalesce(range_agg(w.covers) filter (where w.source = 'api') @> of_day.times, false),
         exists (select from core.unreadable_item u
                  where u.is_payment and u.times && of_day.times and u.gateway = wanted_gateway
                    and core.concerns(u.gateway, u.lender, wanted_lender)),
         (array_agg(w.is_partial order by w.completed_at desc) filter (where w.source = 'file'))[1]
    from of_day
    left join core.gateway_window w
      on w.gateway = wanted_gateway and w.covers && of_day.times and core.concerns(w.gateway, w.lender, wanted_lender)
   group by of_day.times
$$;

create or replace function core.is_complete(wanted_gateway text, wanted_lender text, day date) returns boolean
  language sql stable as $$
  select is_fetched and not is_partly_read or coalesce(not is_partial_file, false)
    from core.coverage_of(wanted_gateway, wanted_lender, day)
$$;

-- Whether a statement is known to leave something out, such as a row that was refused.
create or replace function core.is_partial(wanted_gateway text, wanted_lender text, day date) returns boolean
  language sql stable as $$
  select (is_fetched or is_partial_file is not null) and not core.is_complete(wanted_gateway, wanted_lender, day)
    from core.coverage_of(wanted_gateway, wanted_lender, day)
$$;

-- Which buckets the payments of a day are in, with how much each; 'captured' is the gateway's amount if the day's
-- statement is complete, and 'partial', without an amount, says that it is partial. Normally a payment is in one bucket
-- as a whole. The part of a payment that went back is left out of its other figures, unless its gateway does not have the
-- payment.
create or replace function core.parts_of(wanted_day date)
  returns table (lender text, gateway text, currency text, bucket text, gateway_payment_id text, transaction_id uuid,
    payments integer, amount numeric) language sql stable as $$
  with pair as (
    select p.gateway, p.gateway_payment_id, (p.here).id, (p.here).bucket, p.said as captured, r.said, r.returned,
           coalesce(nullif(p.said_lender, 'UNKNOWN'), (p.here).lender, 'UNKNOWN') as lender,
           coalesce(p.said_currency, (p.here).currency, '') as currency,
           coalesce(case when (p.here).is_whole then r.said end, (p.here).found, r.intended, r.said, 0) as stands,
           -- `known`: the amount that both sides know of; only an operator may have left out a part of it.
           coalesce(r.amount, r.said) as known,
           case when not (p.here).is_cleared then r.intended end as intended
      from core.pairs_of(wanted_day) p
     cross join lateral (
       -- "greatest" would take null for 0.
       select coalesce((p.here).returned, 0), p.said - least(coalesce((p.here).returned, 0), p.said),
              case when (p.here).intended < (p.here).returned then 0 else (p.here).intended - (p.here).returned end,
              case when (p.here).amount < (p.here).returned then 0 else (p.here).amount - (p.here).returned end
     ) r (returned, said, intended, amount)
  ), complete as materialized (
    select s.gateway, s.lender, core.is_complete(s.gateway, s.lender, wanted_day) as is_complete,
           core.is_partial(s.gateway, s.lender, wanted_day) as is_partial
      from (select distinct gateway, lender from pair) s
  )
  select p.lender, p.gateway, p.currency, 'captured', p.gateway_payment_id, p.id, (captured is not null)::integer, coalesce(captured, 0)
    from pair p join complete c using (gateway, lender)
   where c.is_complete
  union all
  select p.lender, p.gateway, p.currency, 'partial', p.gateway_payment_id, p.id, 0, 0
    from pair p join complete c using (gateway, lender)
   where c.is_partial
  union all
  select lender, gateway, currency, bucket, gateway_payment_id, id, 1, said
    from pair
   where id is not null and said = stands and returned = 0
  union all
  select p.lender, p.gateway, p.currency, part.bucket, p.gateway_payment_id, p.id, 1, part.amount
    from pair p
    join complete c using (gateway, lender)
   cross join lateral (
     select greatest(least(known, coalesce(said, known)) - greatest(stands, intended), 0) as left_out,
            -- What was handled for an event that shows no amount is not known to be money.
            said is null and c.is_complete and not (bucket = 'handled' and greatest(stands, known) + returned = 0) as is_not_there) d
   cross join lateral (values
     (bucket,           said is not null and id is not null and (returned = 0 or least(stands, said) > 0), least(stands, said)),
     ('returned',       returned > 0 and (said is not null or not c.is_complete), least(returned, coalesce(captured, returned))),
     ('handled',        said is not null and id is not null and left_out > 0, left_out),
     ('missing',        id is null,                                          said),
     ('missing',        id is not null and said > stands + left_out,         said - stands - left_out),
     ('not_at_gateway', stands > said and bucket <> 'dismissed',             stands - said),
     ('not_at_gateway', is_not_there and bucket <> 'dismissed',              greatest(stands, known) + returned),
     (bucket,           said is null and not is_not_there and (returned = 0 or stands > 0), stands),
     ('handled',        said is null and not c.is_complete and left_out > 0, left_out)) part (bucket, holds, amount)
   where (id is null or said is distinct from stands or returned > 0) and part.holds
$$;

-- Recomputes a day that has changed since its figures were computed, unless it has so many payments that a month of such
-- days, as changed by a read-back, would take minutes: a worker does that.
create or replace view core.figure as
with small as (
  select c.day from (select distinct day from core.changed_day) c
   where (select coalesce(sum(f.payments), 0) from core.day_figure f where f.day = c.day and f.bucket <> 'captured') <= 3000
)
select f.day, f.lender, f.gateway, f.currency, f.bucket, f.payments, f.amount
  from core.day_figure f
 where not exists (select from small where small.day = f.day)
union all
select c.day, p.lender, p.gateway, p.currency, p.bucket, sum(p.payments)::bigint, sum(p.amount)
  from small c
 cross join lateral core.parts_of(c.day) p
 group by c.day, p.lender, p.gateway, p.currency, p.bucket;

-- Whether a day is balanced. Without a complete statement, nobody knows that it is.
create or replace function core.is_balanced(buckets text[]) returns boolean language sql immutable parallel safe as $$
  select 'captured' = any(buckets)
     and not buckets && array['unchecked', 'waiting', 'suspense', 'missing', 'not_at_gateway']
$$;

create or replace view ops.reconciliation as
select d.day, d.lender, d.gateway, b.bucket, coalesce((d.figures -> b.bucket ->> 0)::bigint, 0) as payments,
       coalesce((d.figures -> b.bucket ->> 1)::numeric, 0) as amount, nullif(d.currency, '') as currency,
       (d.figures -> 'captured' ->> 0)::bigint as captured_payments, (d.figures -> 'captured' ->> 1)::numeric as captured_amount,
       core.is_balanced(d.buckets) as balanced,
       case when d.figures ? 'captured' then 'complete' when d.figures ? 'partial' then 'partial' end as statement
  from (select day, lender, gateway, currency, array_agg(bucket) as buckets,
               jsonb_object_agg(bucket, jsonb_build_array(payments, amount)) as figures
          from core.figure
         group by day, lender, gateway, currency) d
 cross join (values ('posted'), ('unchecked'), ('waiting'), ('suspense'), ('handled'), ('dismissed'), ('returned'), ('missing'),
   ('not_at_gateway')) b (bucket);
comment on view ops.reconciliation is
  'Where the money captured by the gateways each day is: nine buckets per day, lender, gateway and currency, whose sum is what '
  'was captured and what is not at the gateway';

create or replace view ops.unbalanced_day as
select day, lender, gateway, nullif(currency, '') as currency, balanced_at, lost_at as unbalanced_since
  from core.balanced_day
 where lost_at is not null;
comment on view ops.unbalanced_day is 'The days that were once balanced and no longer are, and since when';

-- Stores the figures of a day. Returns the lenders and gateways whose day was balanced before and is not now.
create or replace function core.reconcile_day(wanted_day date) returns setof core.balanced_day language plpgsql volatile as $$
begin
  -- Each statement has a snapshot of its own: the figures cover every change marked before they are computed; later marks
  -- stay.
  delete from core.changed_day where day = wanted_day;
  delete from core.day_figure where day = wanted_day;
  insert into core.day_figure (day, lender, gateway, currency, bucket, payments, amount)
  select wanted_day, p.lender, p.gateway, p.currency, p.bucket, sum(p.payments), sum(p.amount)
    from core.parts_of(wanted_day) p
   group by p.lender, p.gateway, p.currency, p.bucket;

  insert into core.balanced_day as b (day, lender, gateway, currency)
  select f.day, f.lender, f.gateway, f.currency
    from core.day_figure f
   where f.day = wanted_day
   group by f.day, f.lender, f.gateway, f.currency
  having core.is_balanced(array_agg(f.bucket))
  on conflict (day, lender, gateway, currency) do update set balanced_at = now(), lost_at = null where b.lost_at is not null;
  -- The payments of such a day now belong to another lender.
  delete from core.balanced_day b
   where b.day = wanted_day
     and not exists (select from core.day_figure f
                      where (f.day, f.lender, f.gateway, f.currency) = (b.day, b.lender, b.gateway, b.currency));
  return query
  update core.balanced_day b set lost_at = now()
   where b.day = wanted_day and b.lost_at is null
     and (select core.is_balanced(array_agg(f.bucket)) from core.day_figure f
           where (f.day, f.lender, f.gateway, f.currency) = (b.day, b.lender, b.gateway, b.currency)) is not true
  returning b.*;
end
$$;

-- The days with payments or statements, each found by the end of the one before it: days are few, payments are not.
create or replace function core.days_of_books() returns setof date language sql stable
  -- The planner uses the indexes, whatever the statistics say.
  set enable_seqscan = off set enable_bitmapscan = off as $$
  with recursive dated (day) as (
    select core.day_of(least((select min(paid_at) from core.transaction where paid_at is not null),
                             (select min(received_at) from core.transaction where paid_at is null),
                             (select min(captured_at) from core.statement)))
    union
    select core.day_of(least((select min(paid_at) from core.transaction where paid_at >= core.start_of(day + 1)),
                             (select min(received_at) from core.transaction
                               where paid_at is null and received_at >= core.start_of(day + 1)),
                             (select min(captured_at) from core.statement where captured_at >= core.start_of(day + 1))))
      from dated where day is not null
  )
  select day from dated where day is not null
  union
  select decided_day from core.transaction where problem = 'unreadable' and decided_day is not null
$$;

create or replace function core.copy_time_zone(wanted text) returns void language plpgsql volatile as $$
begin
  update core.day_zone set time_zone = wanted where time_zone <> wanted;
  if not found then
    return;
  end if;
  -- Which of the new days a file covers as a whole is not known until it is uploaded again.
  update core.gateway_window set is_partial = true where source = 'file' and not is_partial;
  delete from core.balanced_day;
  -- The figures of the other days stay until they are replaced: they show which days are large.
  with marked as (
    insert into core.changed_day (day) select core.days_of_books() returning day
  )
  delete from core.day_figure where day not in (select day from marked);
end
$$;
