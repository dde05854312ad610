-- A row of the audit in the order in which rows were sealed, which is not that of their ids: one may commit late. `chain` is
-- the SHA-256 of the chain before it and of the row.
create table loanops.audit_seal (
  position bigint primary key,
  audit_id uuid not null unique,
  -- By the database's clock. A row whose own time differs was written into the past.
  inserted_at timestamptz not null,
  chain bytea not null
);
create trigger audit_seal_append_only before update or delete or truncate on loanops.audit_seal
  for each statement execute function loanops.refuse_change();

-- What is to be sealed: a row is found here however late it commits, without a search through all of them.
create table loanops.audit_unsealed (
  id uuid primary key,
  inserted_at timestamptz not null
);

-- As the owner, because the service may write neither table.
create function loanops.await_seal() returns trigger language plpgsql security definer
  set search_path = pg_catalog, pg_temp as $$
begin
  insert into loanops.audit_unsealed (id, inserted_at) values (new.id, now());
  return null;
end
$$;
create trigger audit_await_seal after insert on loanops.audit
  for each row execute function loanops.await_seal();
