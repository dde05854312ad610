-- What the ledger holds of a posted payment, if it differs from the amount sent.
alter table core.transaction add column ledger_amount numeric;
-- A payment without a time belongs to the day on which it arrived.
create index transaction_undated on core.transaction (received_at) where paid_at is null;

-- The gateways' statement of each settlement: the payments that it pays out, and its deductions.
create table core.settlement_row (
  gateway text not null,
  settlement_id text not null,
  kind text not null check (kind in ('payment', 'refund', 'other')),
  id text not null,
  payment_id text,
  -- Whose credentials it was fetched with, where the payment itself does not say.
  lender text,
  settled_at timestamptz,
  utr text,
  amount numeric not null,
  -- Without tax.
  fee numeric not null,
  tax numeric not null,
  -- What it adds to the payout, according to the gateway.
  paid_out numeric,
  primary key (settlement_id, gateway, kind, id)
);

-- The time zone in which days are counted: LEDGER_TIMEZONE, as of the process that started last.
create table core.day_zone (
  only_one boolean primary key default true check (only_one),
  time_zone text not null
);
insert into core.day_zone (time_zone) values ('Asia/Kolkata');

-- The figures of a day, as they were when they were last worked out: the buckets that have payments, and as 'captured', where
-- the statement of the day is complete, what the gateway says.
create table core.day_figure (
  day date not null,
  lender text not null,
  gateway text not null,
  currency text not null,
  bucket text not null check (bucket in ('captured', 'posted', 'unchecked', 'waiting', 'suspense', 'handled', 'dismissed',
    'returned', 'missing', 'not_at_gateway')),
  payments bigint not null,
  amount numeric not null,
  primary key (day, lender, gateway, currency, bucket)
);

-- A day whose figures may have changed since, as often as that happened: written with what changes them, and deleted with the
-- figures that know of it. No writer waits for another.
create table core.changed_day (day date not null);
create index changed_day_day on core.changed_day (day);
alter table core.changed_day set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
insert into core.changed_day
select distinct (coalesce(paid_at, received_at) at time zone 'Asia/Kolkata')::date from core.transaction where kind = 'payment'
union
select distinct (captured_at at time zone 'Asia/Kolkata')::date from core.statement;

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

-- The days of these payments, by us and by their gateways. These functions run as the owner: until the views are rebuilt,
-- services have no right to the new tables.
create function core.note_changed_payments() returns trigger language plpgsql
  security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into core.changed_day (day)
  select distinct (d.at at time zone z.time_zone)::date
    from changed c
   cross join core.day_zone z
    left join lateral (select s.captured_at from core.statement s
                        where s.gateway_payment_id = c.gateway_payment_id and s.gateway = c.gateway limit 1) s on true
   cross join lateral (values (coalesce(c.paid_at, c.received_at)), (s.captured_at)) d (at)
   where c.kind = 'payment' and d.at is not null;
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
   where o.kind = 'payment';
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
   where d.at is not null;
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

-- It gains columns in the middle.
drop view if exists ops.suspense;
