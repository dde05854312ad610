-- The time zone in which days are counted: LEDGER_TIMEZONE, as of the process that started last.
create table core.day_zone (
  only_one boolean primary key default true check (only_one),
  time_zone text not null
);
insert into core.day_zone (time_zone) values ('Asia/Kolkata');

-- The figures of a day, as they were when they were last worked out: the buckets that have payments, and as 'captured', where
-- the statement of the day is complete, what the gateway says. 'partial', without payments, stands for a statement that is not.
create table core.day_figure (
  day date not null,
  lender text not null,
  gateway text not null,
  currency text not null,
  bucket text not null check (bucket in ('captured', 'partial', 'posted', 'unchecked', 'waiting', 'suspense', 'handled',
    'dismissed', 'returned', 'missing', 'not_at_gateway')),
  payments bigint not null,
  amount numeric not null,
  primary key (day, lender, gateway, currency, bucket)
);

-- A day whose figures may have changed since, as often as that happened: written with what changes them, and deleted with the
-- figures that know of it. No writer waits for another. It keeps growing and shrinking, and so needs early vacuuming.
create table core.changed_day (day date not null)
  with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
create index changed_day_day on core.changed_day (day);

-- The days of a lender and gateway that were balanced, and since when they no longer are.
create table core.balanced_day (
  day date not null,
  lender text not null,
  gateway text not null,
  currency text not null,
  balanced_at timestamptz not null default now(),
  lost_at timestamptz,
  primary key (day, lender, gateway, currency)
);
create index balanced_day_lost on core.balanced_day (lost_at) where lost_at is not null;

-- The days of these payments, by us and by their gateways. What an operator posted for an event that could not be read is of the
-- day that was decided, and its gateway states it under the id with which it was booked. This and the next functions run as the
-- owner: until the views are rebuilt, services have no right to new tables.
create function core.note_changed_payments() returns trigger language plpgsql
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
create trigger note_new after insert on core.transaction referencing new table as changed
  for each statement execute function core.note_changed_payments();
create trigger note_changed after update on core.transaction referencing new table as changed
  for each statement execute function core.note_changed_payments();
create trigger note_gone after delete on core.transaction referencing old table as changed
  for each statement execute function core.note_changed_payments();

-- The days from which payments were taken, because they have another time now.
create function core.note_left_days() returns trigger language plpgsql
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
create trigger note_left after update on core.transaction referencing old table as before new table as changed
  for each statement execute function core.note_left_days();

-- The days of what these statements say, and of the payments that they speak of.
create function core.note_changed_statements() returns trigger language plpgsql
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
create trigger note_new after insert on core.statement referencing new table as changed
  for each statement execute function core.note_changed_statements();
create trigger note_changed after update on core.statement referencing new table as changed
  for each statement execute function core.note_changed_statements();
create trigger note_before after update on core.statement referencing old table as changed
  for each statement execute function core.note_changed_statements();
create trigger note_gone after delete on core.statement referencing old table as changed
  for each statement execute function core.note_changed_statements();

-- Whose credentials there are decides whom a window concerns.
create function core.note_all_days() returns trigger language plpgsql
  security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into core.changed_day (day) select distinct day from core.day_figure;
  return null;
end
$$;
create trigger note_accounts after insert or delete on core.gateway_account
  for each row execute function core.note_all_days();
