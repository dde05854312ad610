-- The login that wrote a row, which the service cannot choose, unlike the actor that it names.
alter table loanops.audit add column session_role text;

-- The lenders that a raw table may be made for: those of each start's configuration, and those that already have one.
create table core.lender (code text primary key check (code ~ '^[A-Z][A-Z0-9_]{0,39}$'));
insert into core.lender (code)
select 'LENDER_0' || n from generate_series(1, 9) n
union
select 'UNKNOWN'
union
select upper(left(t.tablename, -length(g.name) - 1))
  from pg_tables t
  join core.gateway g on t.tablename ~ ('^[a-z][a-z0-9_]{0,39}_' || g.name || '$')
 where t.schemaname = 'raw';
