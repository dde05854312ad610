-- A viewer may read everything except accounts, and change nothing.
alter table loanops.account drop constraint account_role_check;
alter table loanops.account add constraint account_role_check check (role in ('admin', 'operator', 'viewer')) not valid;

-- Logins to the console that were ended by a logout. A row is needed only until the last token of its login expires.
create table loanops.ended_login (
  id uuid primary key,
  forget_at timestamptz not null
);
