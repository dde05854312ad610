-- The first id that is given out at this time.
create or replace function core.first_id_at(at timestamptz) returns uuid language sql immutable parallel safe as $$
  select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid
$$;

create or replace function raw.refuse_change() returns trigger language plpgsql as $$
begin
  -- Only raw.delete_closed sets loanops.deleting_raw, and only in its own transaction; the service's role may delete
  -- nothing on its own.
  if tg_op = 'DELETE' and current_setting('loanops.deleting_raw', true) = tg_table_name || ' ' || pg_current_xact_id() then
    return null;
  end if;
  raise exception 'raw.% is append-only: % is not allowed', tg_table_name, lower(tg_op) using errcode = 'restrict_violation';
end
$$;

-- Notes new rows for the next batch, in the transaction that writes them.
create or replace function raw.note_new() returns trigger language plpgsql security definer
  set search_path = pg_catalog, pg_temp as $$
begin
  insert into core.pending_event (source, raw_id, received_at) select tg_table_name, id, received_at from arrived
  on conflict do nothing;
  return null;
end
$$;

-- Makes a raw table append-only and announces its rows to the batch, existing ones included.
create or replace function raw.watch(store text) returns void language plpgsql security definer
  set search_path = pg_catalog, pg_temp as $$
declare
  granted record;
begin
  if exists (select from pg_trigger where tgrelid = format('raw.%I', store)::regclass and tgname = 'note_new') then
    return;
  end if;
  execute format('create trigger append_only before update or delete or truncate on raw.%I
                    for each statement execute function raw.refuse_change()', store);
  -- Waits for transactions that are writing to the table, so that each of their rows is either seen below or noted.
  execute format('create trigger note_new after insert on raw.%I referencing new table as arrived
                    for each statement execute function raw.note_new()', store);
  execute format('insert into core.pending_event (source, raw_id, received_at) select %L, id, received_at from raw.%I
                  on conflict do nothing', store, store);
  -- Whoever may read or write the template may read or write every raw table.
  for granted in select acl.grantee, acl.privilege_type
                   from pg_class c cross join lateral aclexplode(c.relacl) acl
                  where c.oid = 'raw.template'::regclass and acl.grantee not in (c.relowner, 0) loop
    execute format('grant %s on raw.%I to %s', granted.privilege_type, store, granted.grantee::regrole);
  end loop;
end
$$;

-- The lender and gateway in a raw table's name; no row if the name is not of that form.
create or replace function raw.named_after(store text) returns table (lender text, gateway text) language sql stable as $$
  select upper(left(store, -length(g.name) - 1)), g.name
    from core.gateway g
   where store ~ ('^[a-z][a-z0-9_]{0,39}_' || g.name || '$')
   -- One gateway's name may end with another's.
   order by length(g.name) desc
   limit 1
$$;

-- Makes a lender's raw table on first use. A table that was made by hand is watched from its first event on, which needs
-- the grants.
create or replace function raw.make_store(lender text, gateway text) returns text language plpgsql security definer
  set search_path = pg_catalog, pg_temp as $$
declare
  store text := lower(lender) || '_' || gateway;
begin
  if not exists (select from core.lender l where l.code = make_store.lender)
     or not exists (select from core.gateway g where g.name = make_store.gateway) then
    raise exception 'no raw table for lender % and gateway %', lender, gateway using errcode = 'invalid_parameter_value';
  end if;
  if not exists (select from pg_trigger
                  where tgrelid = to_regclass(format('raw.%I', store)) and tgname = 'note_new') then
    -- One transaction makes tables at a time. Only `if not exists` reliably sees a table that the previous one made,
    -- because the lookup above may be cached until the table is locked. If somebody makes the table at this very moment,
    -- this fails, and the caller tries again.
    perform pg_advisory_xact_lock(7405315);
    execute format('create table if not exists raw.%I (like raw.template including all)', store);
    perform raw.watch(store);
  end if;
  return store;
end
$$;

create or replace function raw.undiscovered() returns setof text language sql stable as $$
  select c.relname::text
    from pg_class c
   where c.relnamespace = 'raw'::regnamespace and c.relkind in ('r', 'p')
     and exists (select from raw.named_after(c.relname))
     and (not exists (select from core.source where name = c.relname)
          or to_regclass(format('base.%I', c.relname)) is null)
   order by c.relname
$$;

-- A view that already exists is an operator's own.
create or replace function raw.register(store text) returns void language plpgsql security definer
  set search_path = pg_catalog, pg_temp as $$
declare
  lender text;
  gateway text;
begin
  select n.lender, n.gateway into lender, gateway from raw.named_after(store) n;
  if gateway is null then
    raise exception 'raw.% is not named after a lender and a gateway', store using errcode = 'invalid_parameter_value';
  end if;
  perform raw.watch(store);
  if to_regclass(format('base.%I', store)) is null then
    execute format($view$
      create view base.%I as
      select r.id as raw_id, r.received_at, r.event_id, r.event_type, r.address, r.verified_by,
             f.kind, f.payment_id, f.of_payment_id, f.status, f.amount, f.currency, f.paid_at, f.external_loan_id,
             f.problem, f.hints
        from raw.%I r cross join lateral base.%I(r.body) f$view$, store, store, gateway);
    execute format('comment on view base.%I is %L', store, 'The facts in the events of raw.' || store);
  end if;
  insert into core.source (name, lender, gateway) values (store, lender, gateway)
  on conflict do nothing;
end
$$;
