-- Every form that a file of views has had here, and when first: a process may start on views that a newer version
-- brought, but not on those of an older one.
create table loanops.views_applied (
  name text not null,
  sha256 text not null,
  first_applied_at timestamptz not null default now(),
  primary key (name, sha256)
);
insert into loanops.views_applied (name, sha256)
select name, sha256 from loanops.migration_applied where name like 'views/%';
