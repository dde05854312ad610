create or replace view ops.audit as
select at, actor, action, subject, address, request_id, detail, id, caller, session_role
  from loanops.audit;
comment on view ops.audit is 'Who did what, when and from where';

-- Only the owner may fill in a history: it could also disable this trigger.
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
