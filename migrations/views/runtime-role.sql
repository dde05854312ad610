-- Services run under this role, which reads and writes rows and changes nothing else. It cannot log in itself; the owner
-- grants it to a login. If the owner may not create roles and nobody has created it, owner and service are one.
do $$
declare
  schema_name text;
begin
  if to_regrole('loanops_runtime') is null then
    begin
      create role loanops_runtime nologin;
    exception
      when insufficient_privilege then
        raise notice 'without createrole there is no role loanops_runtime';
        return;
      -- Another database of this server is being migrated at the same moment.
      when duplicate_object or unique_violation then null;
    end;
  end if;

  foreach schema_name in array array['loanops', 'raw', 'base', 'core', 'ops', 'pgboss'] loop
    continue when to_regnamespace(schema_name) is null;
    execute format('grant usage on schema %I to loanops_runtime', schema_name);
    execute format('grant select on all tables in schema %I to loanops_runtime', schema_name);
    execute format('grant usage on all sequences in schema %I to loanops_runtime', schema_name);
    execute format('grant execute on all functions in schema %I to loanops_runtime', schema_name);
  end loop;
  foreach schema_name in array array['loanops', 'core', 'pgboss'] loop
    continue when to_regnamespace(schema_name) is null;
    execute format('grant insert, update, delete on all tables in schema %I to loanops_runtime', schema_name);
  end loop;
  if to_regclass('raw.template') is not null then
    grant insert on all tables in schema raw to loanops_runtime;
    -- Discovery creates further views and tables as the owner.
    alter default privileges in schema base grant select on tables to loanops_runtime;
  end if;
  revoke update, delete on loanops.audit from loanops_runtime;
  revoke insert, update, delete on core.gateway from loanops_runtime;
  revoke insert, update, delete on loanops.migration_applied, loanops.views_applied from loanops_runtime;
end
$$;
