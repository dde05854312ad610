-- Whether an operator has decided about an event that could not be read, and that shows the id of its payment.
create or replace function core.is_decided_unreadable(t core.transaction) returns boolean language sql immutable parallel safe as $$
  select (t.problem = 'unreadable' and t.booked_as is not null
          and (t.state in ('waiting', 'posting', 'posted', 'returned', 'handled') or t.state = 'suspense' and t.decision = 'post')) is true
$$;

create or replace function core.is_stated(t core.transaction) returns boolean
  language plpgsql stable set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
  return exists (select from core.current_statement s
                  where s.gateway_payment_id = t.gateway_payment_id and s.gateway = t.gateway and s.status <> 'failed');
end
$$;

-- The posted twin of this dismissed payment, if the gateway's statements have the money under the dismissed one's id alone. No
-- posted payment is the twin of two dismissed ones. core.twin_of finds twins before they are posted.
create or replace function core.booked_twin_of(d core.transaction) returns uuid
  language plpgsql stable set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  -- A reference that more payments have is none, as those of test modes.
  most_twins constant integer := 100;
  posted core.transaction;
begin
  if d.state <> 'dismissed' or d.kind <> 'payment' or d.gateway <> 'gateway_b' or not core.is_stated(d) then
    return null;
  end if;
  -- Any posted twin will do here: if there are many dismissed ones, all but the first end before the search in order below.
  select o.* into posted from core.twins_of(d) o where o.state = 'posted' limit 1;
  if posted.id is null
     or exists (select from core.twins_of(posted) e where e.state = 'dismissed' and e.id < d.id and core.is_stated(e)) then
    return null;
  end if;
  return (select o.id
    from (select * from core.twins_of(d) where state = 'posted' order by id limit most_twins) o
   where not core.is_stated(o.*)
   order by o.id
   limit 1);
end
$$;

-- The id of a mandate debit's payment, if the gateway's statements have the money under that id alone and no payment here has the
-- id, so that nobody could dismiss it. Of several debits of one payment, the first has the money.
create or replace function core.stated_instead(d core.transaction) returns text
  language plpgsql stable set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  unseen text := core.unseen_id_of(d);
begin
  if unseen is null or core.is_stated(d)
     or not exists (select from core.current_statement s
                     where s.gateway_payment_id = unseen and s.gateway = d.gateway and s.status <> 'failed')
     or exists (select from core.transaction o
                 where o.hints ->> 'cf_txn_id' = unseen and o.gateway = d.gateway and o.kind = 'payment'
                   and o.state not in ('failed', 'dismissed') and o.id < d.id) then
    return null;
  end if;
  return unseen;
end
$$;

-- Our side of each payment: what became of it, and how much of it. `found`: the amount that the ledger has, if it is not
-- what was sent, and is not known to be in the loan's currency. `intended`: what is or will be sent, never more than was
-- captured, because an operator's amount may be in the loan's currency. `stated_as`: the id under which the gateway has it.
create or replace view core.payment_here as
select core.gateway_of(t) as gateway, t.gateway_payment_id, t.id, t.lender, t.currency, t.paid_at, t.received_at,
       -- Of an event that shows no amount, the gateway's counts.
       case when t.amount is not null or not decided.is_unreadable then greatest(t.amount, 0) end as amount,
       greatest(least(case when not decided.is_converted then t.decided_amount end, t.amount - t.payer_fee, t.amount), 0) as intended,
       case when t.state in ('posted', 'returned') and not decided.is_converted then t.ledger_amount end as found,
       -- If nothing is posted for a payment, the gateway's amount counts, unless whoever decided about it saw another.
       t.state not in ('waiting', 'posting', 'posted') and t.objection is distinct from 'events_disagree'
         and (t.state <> 'returned' or t.returned_amount is null) as is_whole,
       coalesce('differs_at_ledger ' || t.difference = any(t.cleared_facts), false) as is_cleared,
       case when t.state = 'posting' then 'waiting'
            when t.state = 'posted' and (t.read_back_at >= t.posted_at) is not true then 'unchecked'
            -- All of it went back, and the ledger has it nevertheless.
            when t.state = 'returned' and t.ledger_amount > 0 then 'posted'
            else t.state end as bucket,
       coalesce(t.returned_amount, 0) as returned,
       case when decided.is_unreadable then t.booked_as
            when t.hints ? 'cf_txn_id' and t.state <> 'dismissed' then coalesce(core.stated_instead(t), t.gateway_payment_id)
            else t.gateway_payment_id end as stated_as,
       case when decided.is_unreadable and t.paid_at is null then t.decided_day end as decided_day,
       core.proved_lender(t) as proved_lender
  from core.transaction t
 cross join lateral (select core.is_decided_unreadable(t),
                            (t.decided_over ->> 'reason' = 'currency_mismatch' or t.decided_amount > t.amount) is true)
       decided (is_unreadable, is_converted)
 where t.kind = 'payment' and t.state <> 'failed'
   -- A payment is on our side once: as its own row, unless that was dismissed because an event that could not be read was
   -- posted or handled as this payment, or because it was posted under its other id.
   and not (t.state = 'dismissed' and core.booked_twin_of(t) is not null)
   and not (decided.is_unreadable and exists (
     select from core.transaction own
      where own.gateway_payment_id = t.booked_as and own.gateway = core.gateway_of(t) and own.kind = 'payment'
        and own.state not in ('failed', 'dismissed')))
   and not (decided.is_unreadable and exists (
     select from core.transaction o
      where o.problem = 'unreadable' and o.hints ->> 'payment_id' = t.booked_as
        and core.gateway_of(o) = core.gateway_of(t) and o.booked_as = t.booked_as
        and core.is_decided_unreadable(o) and (o.state = 'posted', o.id) > (t.state = 'posted', t.id)))
   and not (t.state = 'dismissed' and exists (
     select from core.transaction o
      where o.problem = 'unreadable' and o.hints ->> 'payment_id' = t.gateway_payment_id and core.gateway_of(o) = t.gateway
        and o.booked_as = t.gateway_payment_id and core.is_decided_unreadable(o)));

-- The payments that the gateway states around this day under the ids of their dismissed twins.
create or replace function core.booked_twins(wanted_day date)
  returns table (gateway text, gateway_payment_id text, "row" core.payment_here)
  language plpgsql stable rows 1 set enable_seqscan = off as $$
#variable_conflict use_column
begin
  return query
  select d.gateway, d.gateway_payment_id, h
    from core.transaction d
    join core.payment_here h on h.id = core.booked_twin_of(d)
   where d.state = 'dismissed' and d.kind = 'payment'
     and d.paid_at >= (select core.start_of(wanted_day - 7)) and d.paid_at < (select core.start_of(wanted_day + 8));
end
$$;

-- The payments of a day, the gateway's side next to ours if both have the payment in the same currency. A payment belongs
-- to the day that the gateway gives it or, without one, to ours: of an event that could not be read, as of which it was posted.
create or replace function core.pairs_of(wanted_day date)
  returns table (gateway text, gateway_payment_id text, said_lender text, said_currency text, said numeric, here core.payment_here)
  language sql stable as $$
  with said as (
    select s.* from core.current_statement s
     where s.captured_at >= (select core.start_of(wanted_day)) and s.captured_at < (select core.start_of(wanted_day + 1))
       and s.status <> 'failed'
  ), here as (
    select h as row, h.gateway, h.gateway_payment_id, h.stated_as from core.payment_here h
     where h.decided_day is null
       and (h.paid_at >= (select core.start_of(wanted_day)) and h.paid_at < (select core.start_of(wanted_day + 1))
            or h.paid_at is null
               and h.received_at >= (select core.start_of(wanted_day)) and h.received_at < (select core.start_of(wanted_day + 1)))
    union all
    select h, h.gateway, h.gateway_payment_id, h.stated_as
      from (select id from core.transaction where problem = 'unreadable' and decided_day = wanted_day) t
      join core.payment_here h on h.id = t.id and h.decided_day = wanted_day
  ), met as (
    select said.gateway, said.gateway_payment_id, said.lender, said.source, said.currency, said.amount,
           coalesce(here.row, other.row, booked.row, twin.row) as row
      from said
      left join here on here.stated_as = said.gateway_payment_id and here.gateway = said.gateway
      -- These are nested loops: only payments of another day are looked up one by one.
      left join lateral (
        select h as row from core.payment_here h
         where here.row is null and h.gateway_payment_id = said.gateway_payment_id and h.gateway = said.gateway
        limit 1) other on true
      left join lateral (
        select h as row
          from (select id from core.transaction where problem = 'unreadable' and hints ->> 'payment_id' = said.gateway_payment_id
                union all
                select id from core.transaction where hints ->> 'cf_txn_id' = said.gateway_payment_id) t
          join core.payment_here h on h.id = t.id
         where here.row is null and other.row is null and h.gateway = said.gateway and h.stated_as = said.gateway_payment_id
         limit 1) booked on true
      left join core.booked_twins(wanted_day) twin
        on twin.gateway_payment_id = said.gateway_payment_id and twin.gateway = said.gateway
  )
  select gateway, coalesce((row).gateway_payment_id, gateway_payment_id), core.lender_of(source, gateway, lender, (row).proved_lender),
         currency, amount,
         case when coalesce((row).currency, currency) = currency then row end
    from met
  union all
  select gateway, (row).gateway_payment_id, null, null, null, row from met where (row).currency <> currency
  union all
  select here.gateway, here.gateway_payment_id, null, null, null, here.row
    from here
    left join said on here.stated_as = said.gateway_payment_id and here.gateway = said.gateway
    left join lateral (
      select s.gateway from core.current_statement s
       where said.gateway is null and s.gateway_payment_id = here.stated_as and s.gateway = here.gateway
         and s.status <> 'failed'
      limit 1) other on true
   where said.gateway is null and other.gateway is null
     and not exists (select from core.booked_twins(wanted_day) twin where (twin.row).id = (here.row).id)
$$;

-- The days on which gateway B's payments with these ids have their money under another id, by us and by the gateway.
create or replace function core.days_of_twins(ids text[]) returns setof date language plpgsql stable
  set enable_seqscan = off as $$
declare
  -- A reference that more payments have is none, as those of test modes.
  most_twins constant integer := 100;
begin
  return query
  with known as materialized (
    select * from core.transaction where gateway_payment_id = any(ids) and gateway = 'gateway_b' and kind = 'payment'
  ), other as materialized (
    select o.gateway_payment_id, coalesce(o.paid_at, o.received_at) as at
      from known t
     cross join lateral (select * from core.twins_of(t::core.transaction) limit most_twins) o
    union all
    select d.gateway_payment_id, coalesce(d.paid_at, d.received_at)
      from core.transaction d where d.hints ->> 'cf_txn_id' = any(ids) and d.gateway = 'gateway_b' and d.kind = 'payment'
  )
  select core.day_of(at) from other
  union
  select core.day_of(s.captured_at)
    from core.statement s
   where s.gateway = 'gateway_b' and s.captured_at is not null
     and s.gateway_payment_id = any(array(select gateway_payment_id from other
                                          union all
                                          select hints ->> 'cf_txn_id' from known where hints ? 'cf_txn_id'));
end
$$;

-- Most payments are none of these: booked or decided once, a mandate's debit, or named by one.
create or replace function core.note_twins_of_payments() returns trigger language plpgsql
  security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
  ids text[] := array(
    select gateway_payment_id
      from changed
     where gateway = 'gateway_b' and kind = 'payment'
       and (operation_id is not null or decided_over is not null or hints ? 'cf_txn_id'
            or exists (select from core.transaction d where d.hints ->> 'cf_txn_id' = changed.gateway_payment_id)));
begin
  if ids <> '{}' then
    insert into core.changed_day (day) select core.days_of_twins(ids);
  end if;
  return null;
end
$$;
create or replace trigger note_twins_of_new after insert on core.transaction referencing new table as changed
  for each statement execute function core.note_twins_of_payments();
create or replace trigger note_twins_of_changed after update on core.transaction referencing new table as changed
  for each statement execute function core.note_twins_of_payments();

create or replace function core.note_twins_of_statements() returns trigger language plpgsql
  security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into core.changed_day (day)
  select core.days_of_twins(array(select gateway_payment_id from changed where gateway = 'gateway_b'));
  return null;
end
$$;
create or replace trigger note_twins_of_new after insert on core.statement referencing new table as changed
  for each statement execute function core.note_twins_of_statements();
create or replace trigger note_twins_of_changed after update on core.statement referencing new table as changed
  for each statement execute function core.note_twins_of_statements();
create or replace trigger note_twins_of_gone after delete on core.statement referencing old table as changed
  for each statement execute function core.note_twins_of_statements();
