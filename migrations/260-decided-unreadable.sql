-- What an operator posted for an event that could not be read, by the day as of which it was posted.
create index transaction_decided_unreadable on core.transaction (decided_day) where problem = 'unreadable' and decided_day is not null;

-- The day of such a payment is the one that was decided, and its gateway states it under the id with which it was booked.
create or replace function core.note_changed_payments() returns trigger language plpgsql
  security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into core.changed_day (day)
  select (coalesce(c.paid_at, c.received_at) at time zone z.time_zone)::date
    from changed c
   cross join core.day_zone z
   where c.kind = 'payment'
  union
  select c.decided_day from changed c where c.problem = 'unreadable' and c.decided_day is not null
  union
  select (s.captured_at at time zone z.time_zone)::date
    from (select n.gateway, array_agg(n.id) as ids
            from (select gateway, gateway_payment_id from changed where kind = 'payment'
                  union all
                  select gateway, booked_as from changed where problem = 'unreadable' and booked_as is not null) n (gateway, id)
           group by n.gateway) c
    join core.statement s on s.gateway_payment_id = any(c.ids) and s.gateway = c.gateway
   cross join core.day_zone z;
  return null;
end
$$;

create or replace function core.note_left_days() returns trigger language plpgsql
  security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into core.changed_day (day)
  select distinct (coalesce(o.paid_at, o.received_at) at time zone z.time_zone)::date
    from before o
    join changed c on c.id = o.id and coalesce(c.paid_at, c.received_at) <> coalesce(o.paid_at, o.received_at)
   cross join core.day_zone z
   where o.kind = 'payment'
  union
  select o.decided_day from before o where o.problem = 'unreadable' and o.decided_day is not null;
  return null;
end
$$;

create or replace function core.note_changed_statements() returns trigger language plpgsql
  security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into core.changed_day (day)
  select distinct (d.at at time zone z.time_zone)::date
    from changed c
   cross join core.day_zone z
    left join lateral (select coalesce(t.paid_at, t.received_at) as at from core.transaction t
                        where t.gateway_payment_id = c.gateway_payment_id and t.gateway = c.gateway and t.kind = 'payment'
                        limit 1) t on true
   cross join lateral (values (c.captured_at), (t.at)) d (at)
   where d.at is not null
  union
  select d.day
    from changed c
   cross join core.day_zone z
    join core.transaction t
      on t.problem = 'unreadable' and t.hints ->> 'payment_id' = c.gateway_payment_id and t.gateway = c.gateway
   cross join lateral (values (t.decided_day), ((t.received_at at time zone z.time_zone)::date)) d (day)
   where t.booked_as is not null and d.day is not null;
  return null;
end
$$;

insert into core.changed_day (day)
select d.day
  from core.transaction t
 cross join core.day_zone z
  left join core.statement s on s.gateway_payment_id = t.booked_as and s.gateway = t.gateway
 cross join lateral (values (t.decided_day), ((t.received_at at time zone z.time_zone)::date),
                            ((s.captured_at at time zone z.time_zone)::date)) d (day)
 where t.problem = 'unreadable' and t.booked_as is not null and d.day is not null
union
select (t.received_at at time zone z.time_zone)::date
  from core.transaction t
 cross join core.day_zone z
 where t.problem = 'unreadable' and t.state = 'handled';
