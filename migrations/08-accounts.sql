-- Accounts that may log in. One is disabled, never deleted, because its name stays in the audit.
create table loanops.account (
  id uuid primary key,
  username text not null,
  -- Null for an account of single sign-on, which has no password.
  password_hash text,
  -- A viewer may read everything except accounts, and change nothing.
  role text not null check (role in ('admin', 'operator', 'viewer')),
  -- Tokens carry the generation in which they were issued: raising it ends all of them except the kept one.
  token_generation integer not null default 1,
  kept_token uuid,
  created_at timestamptz not null default now(),
  disabled_at timestamptz,
  -- An administrator has reset the password: it only opens the change of it.
  must_change_password boolean not null default false,
  -- An account of single sign-on is known by its issuer and the issuer's own id of the person.
  oidc_issuer text,
  oidc_subject text,
  -- The account was made by the command create-admin: its password opens the console whatever PASSWORD_LOGIN says.
  made_by_command boolean not null default false
);
create unique index account_username on loanops.account (lower(username));
create unique index account_of_person on loanops.account (oidc_issuer, oidc_subject);

-- Failed logins per username and per address, as rate-limiter-flexible keeps them: the order of columns is its own.
create table loanops.login_attempt (
  key text primary key,
  points integer not null default 0,
  expire bigint
);

-- Logins to the console that were ended by a logout. A row is needed only until the last token of its login expires.
create table loanops.ended_login (
  id uuid primary key,
  forget_at timestamptz not null
);

create table loanops.audit (
  id uuid primary key,
  at timestamptz not null default now(),
  actor text not null,
  action text not null,
  subject text not null,
  address inet,
  request_id text,
  detail jsonb not null default '{}',
  caller text,
  -- The login that wrote a row, which the service cannot choose, unlike the actor that it names.
  session_role text
);
create index audit_at on loanops.audit (at);
create index audit_actor on loanops.audit (actor, at);
create index audit_action on loanops.audit (action, at);
create index audit_subject on loanops.audit (subject, at);

create function loanops.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '%.% is append-only', tg_table_schema, tg_table_name using errcode = 'insufficient_privilege';
end
$$;
create trigger audit_append_only before update or delete or truncate on loanops.audit
  for each statement execute function loanops.refuse_change();

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

-- It runs as the owner, because the service may write neither table.
create function loanops.await_seal() returns trigger language plpgsql security definer
  set search_path = pg_catalog, pg_temp as $$
begin
  insert into loanops.audit_unsealed (id, inserted_at) values (new.id, now());
  return null;
end
$$;
create trigger audit_await_seal after insert on loanops.audit
  for each row execute function loanops.await_seal();
