-- Makes the rows of a table those of the settings. Returns the rows that the table no longer has, null if it had the same.
create or replace function core.copy_settings(target regclass, settings jsonb) returns jsonb language plpgsql as $$
declare
  wanted text := format('select distinct * from jsonb_populate_recordset(null::%s, $1)', target);
  is_same boolean;
  gone jsonb;
begin
  execute format('select not exists ((%1$s except table %2$s) union all (table %2$s except %1$s))', wanted, target)
    using settings into is_same;
  if is_same then
    return null;
  end if;
  perform core.lock_settling();
  -- Another process may have copied its settings meanwhile.
  execute format('select coalesce(jsonb_agg(g), ''[]'') from (table %2$s except %1$s) g', wanted, target)
    using settings into gone;
  execute format('delete from %s', target);
  execute format('insert into %s %s', target, wanted) using settings;
  return gone;
end
$$;
