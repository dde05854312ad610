-- Accounts that may log in. One is disabled, never deleted, because its name stays in the audit.
create table loanops.account (
  id uuid primary key,
  username text not null,
  password_hash text not null,
  role text not null check (role in ('admin', 'operator')),
  -- Tokens carry the generation in which they were issued: raising it ends all of them except the kept one.
  token_generation integer not null default 1,
  kept_token uuid,
  created_at timestamptz not null default now(),
  disabled_at timestamptz
);
create unique index account_username on loanops.account (lower(username));

-- Failed logins per username and per address, as rate-limiter-flexible keeps them: the order of columns is its own.
create table loanops.login_attempt (
  key text primary key,
  points integer not null default 0,
  expire bigint
);

create table loanops.audit (
  id uuid primary key,
  at timestamptz not null default now(),
  actor text not null,
  action text not null,
  subject text not null,
  address inet,
  request_id text,
  detail jsonb not null default '{}'
);
create index audit_at on loanops.audit (at);
create index audit_actor on loanops.audit (actor, at);
create index audit_subject on loanops.audit (subject, at);

create function loanops.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '%.% is append-only', tg_table_schema, tg_table_name using errcode = 'insufficient_privilege';
end
$$;
create trigger audit_append_only before update or delete or truncate on loanops.audit
  for each statement execute function loanops.refuse_change();
