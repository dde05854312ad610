-- Raw tables made by hand that will not become sources, because of their name or columns.
create or replace function raw.misfits() returns table (store text, problem text) language plpgsql stable as $$
begin
  return query
  select c.relname::text,
         case when n.gateway is null then 'its name is not that of a lender and a gateway: raw.<lender>_<gateway>, in lower case'
              else 'it lacks columns of raw.template, or has them with another type: ' || array_to_string(missing.columns, ', ') end
    from pg_class c
    left join lateral raw.named_after(c.relname) n on true
   cross join lateral (
     select array_agg(wanted.attname::text order by wanted.attnum)
       from pg_attribute wanted
      where wanted.attrelid = 'raw.template'::regclass and wanted.attnum > 0 and not wanted.attisdropped
        and not exists (select from pg_attribute a
                         where a.attrelid = c.oid and a.attname = wanted.attname and a.atttypid = wanted.atttypid
                           and not a.attisdropped)) missing (columns)
   where c.relnamespace = 'raw'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
     and c.oid <> 'raw.template'::regclass
     and (n.gateway is null) = (missing.columns is null)
     and not exists (select from core.source where name = c.relname);
end
$$;
