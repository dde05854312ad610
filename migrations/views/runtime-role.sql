-- Services run under the first role, which reads and writes rows and changes nothing else. Processes of role worker may
-- run under the second, which cannot read the accounts. Neither role can log in: the owner grants it to a login. If the
-- owner may not create roles and nobody has created them, owner and service are one.
do $$
declare
  role_name text;
  schema_name text;
  closed regprocedure;
begin
  -- PostgreSQL lets everybody call a new function. These do as the owner what the caller may not, or take a lock that the
  -- service waits for.
  for closed in select p.oid from pg_proc p join pg_namespace n on n.oid = p.pronamespace
                 where (p.prosecdef or p.prosrc ~ 'pg_(try_)?advisory')
                   and n.nspname in ('loanops', 'raw', 'base', 'core', 'ops') loop
    execute format('revoke execute on function %s from public', closed);
  end loop;

  foreach role_name in array array['loanops_runtime', 'loanops_worker'] loop
    if to_regrole(role_name) is null then
      begin
        execute format('create role %I nologin', role_name);
      exception
        when insufficient_privilege then
          raise warning 'there is no role %, and this login may not create it', role_name;
          continue;
        -- Another database of this server is being migrated at the same moment.
        when duplicate_object or unique_violation then null;
      end;
    end if;

    foreach schema_name in array array['loanops', 'raw', 'base', 'core', 'ops', 'pgboss'] loop
      continue when to_regnamespace(schema_name) is null;
      execute format('grant usage on schema %I to %I', schema_name, role_name);
      execute format('grant select on all tables in schema %I to %I', schema_name, role_name);
      execute format('grant usage on all sequences in schema %I to %I', schema_name, role_name);
      execute format('grant execute on all functions in schema %I to %I', schema_name, role_name);
    end loop;
    foreach schema_name in array array['loanops', 'core', 'pgboss'] loop
      continue when to_regnamespace(schema_name) is null;
      execute format('grant insert, update, delete on all tables in schema %I to %I', schema_name, role_name);
    end loop;
    if to_regclass('raw.template') is not null then
      execute format('grant insert on all tables in schema raw to %I', role_name);
      -- Discovery creates further views and tables as the owner: the grants apply to these too.
      execute format('alter default privileges in schema base grant select on tables to %I', role_name);
    end if;
    -- Only the functions that make and register a raw table may call these, as the owner.
    execute format('revoke execute on function raw.watch(text) from public, %I', role_name);
    execute format('revoke update, delete on loanops.audit, core.lender from %I', role_name);
    -- Only functions of the owner write these tables.
    execute format('revoke insert, update, delete on loanops.audit_seal, loanops.audit_unsealed from %I', role_name);
    execute format('revoke insert, update, delete on core.gateway from %I', role_name);
    execute format('revoke insert, update, delete on loanops.migration_applied, loanops.views_applied from %I', role_name);
  end loop;

  if to_regrole('loanops_worker') is not null then
    revoke all on loanops.account, loanops.login_attempt, loanops.ended_login, loanops.approval from loanops_worker;
    -- A bulk decision ends once the account that made it is disabled or a viewer: the worker must see that.
    grant select (username, disabled_at, role) on loanops.account to loanops_worker;
  end if;

  begin
    execute format('revoke temporary on database %I from public', current_database());
  exception
    when insufficient_privilege then raise warning 'only the database''s owner can revoke temporary tables: the service can create them';
  end;

  -- In a database that comes from PostgreSQL 14 or older, everybody may create in this schema. A function there could fit a call
  -- better than PostgreSQL's own, and would then run as the owner.
  if has_schema_privilege('public', to_regnamespace('public'), 'create') then
    if pg_has_role(current_user, (select nspowner from pg_namespace where nspname = 'public'), 'usage') then
      revoke create on schema public from public;
    else
      raise warning 'only the owner of the schema public can revoke "create" on it: the service can create tables and functions there';
    end if;
  end if;

  -- Large objects belong to whoever makes them, and would be the one thing that these roles can create.
  if (select rolsuper from pg_roles where rolname = current_user) then
    revoke execute on function lo_creat(integer), lo_create(oid), lo_from_bytea(oid, bytea) from public;
  elsif has_function_privilege('public', 'lo_create(oid)', 'execute') then
    raise warning 'only a superuser can revoke large objects: the service can create them';
  end if;
end
$$;
