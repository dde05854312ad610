create or replace view ops.audit as
select at, actor, action, subject, address, request_id, detail, id, caller, session_role
  from loanops.audit;
comment on view ops.audit is 'Who did what, when and from where';

-- Whether accounts with this role may do this act.
create or replace function loanops.may_do(role text, act text) returns boolean language sql immutable parallel safe as $$
  select role = 'admin' or role <> 'viewer' and act not like 'account.%'
$$;

-- Only the owner may insert audit rows with a time of their own: the owner could also disable this trigger.
create or replace function loanops.stamp_audit() returns trigger language plpgsql
  set search_path = pg_catalog, pg_temp as $$
begin
  new.session_role := session_user;
  if not pg_has_role(current_user, (select relowner from pg_class where oid = tg_relid), 'usage') then
    new.at := now();
  end if;
  return new;
end
$$;
create or replace trigger audit_stamp before insert on loanops.audit
  for each row execute function loanops.stamp_audit();

-- Seals audit rows. Acts never wait for it, because it locks nothing that they insert. `npm run verify-audit` repeats the
-- row's text by itself, because the owner could replace a function. @returns how many rows it sealed, 0 while somebody
-- else seals
create or replace function loanops.seal_audit(max_rows integer) returns integer language plpgsql security definer
  set search_path = pg_catalog, pg_temp as $$
declare
  place bigint;
  link bytea;
  unsealed record;
  text_of_row text;
  sealed integer := 0;
begin
  if not pg_try_advisory_xact_lock(7405323) then return 0; end if;
  select s.position, s.chain into place, link from loanops.audit_seal s order by s.position desc limit 1;
  place := coalesce(place, 0);
  link := coalesce(link, '');
  -- Looks up each row by its id: joined, the rows might be found by reading the whole table.
  for unsealed in select id, inserted_at from loanops.audit_unsealed order by id loop
    exit when sealed = max_rows;
    select jsonb_build_array(a.id, extract(epoch from a.at), a.actor, a.caller, a.action, a.subject, a.address, a.request_id,
             a.session_role, a.detail)::text
      into text_of_row from loanops.audit a where a.id = unsealed.id;
    -- The row was removed before it could be sealed: verify-audit names it.
    continue when not found;
    place := place + 1;
    link := sha256(link || convert_to(text_of_row, 'UTF8'));
    insert into loanops.audit_seal (position, audit_id, inserted_at, chain)
    values (place, unsealed.id, unsealed.inserted_at, link);
    delete from loanops.audit_unsealed where id = unsealed.id;
    sealed := sealed + 1;
  end loop;
  return sealed;
end
$$;
