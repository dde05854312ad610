-- Which days the statements cover: from fetches, with what these could not read, and from uploaded files, which may be
-- withdrawn.

create or replace function core.days_in(times tstzrange) returns setof date language sql stable as $$
  select core.day_of(lower(times)) + plus
    from generate_series(0, core.day_of(upper(times)) - core.day_of(lower(times))) plus
$$;

-- Saves that a fetch covers a period, merged with the periods that it touches.
create or replace function core.note_window(wanted_gateway text, wanted_lender text, wanted_source text, covered tstzrange)
  returns void language sql volatile as $$
  with gone as (
    delete from core.gateway_window w
     where w.gateway = wanted_gateway and w.lender is not distinct from wanted_lender and w.source = wanted_source
       and (w.covers && covered or w.covers -|- covered)
    returning w.covers
  ), news as (
    insert into core.changed_day (day)
    select distinct core.days_in(r)
      from (select covered::tstzmultirange - coalesce(range_agg(g.covers), '{}') as times from gone g) n
     cross join unnest(n.times) r
  )
  insert into core.gateway_window (gateway, lender, source, covers)
  select wanted_gateway, wanted_lender, wanted_source, coalesce(range_merge(range_agg(g.covers) + covered::tstzmultirange), covered)
    from gone g
$$;

-- Saves which days a file covers. Days are covered as a whole: those that the file covers in part are marked as partial.
create or replace function core.note_file(wanted_file uuid, days date[], partial_days date[]) returns void
  language sql volatile as $$
  with given as (
    select day, bool_or(is_partial) as is_partial
      from (select unnest(days), false union all select unnest(partial_days), true) d (day, is_partial)
     group by day
  ), news as (
    insert into core.changed_day (day) select day from given
  )
  insert into core.gateway_window (gateway, lender, source, covers, statement_id, is_partial, completed_at)
  select f.gateway, f.lender, 'file', run, f.id, g.is_partial, clock_timestamp()
    from core.statement_file f
   cross join (select is_partial, range_agg(tstzrange(core.start_of(day), core.start_of(day + 1))) as runs
                 from given group by is_partial) g
   cross join unnest(g.runs) run
   where f.id = wanted_file
$$;

-- Withdraws a file; its rows are deleted later. The rows that they replaced do not come back: no statement of their days is
-- complete until a later one covers the day. Returns nothing if there is no such file, or if it was withdrawn before.
create or replace function core.withdraw_file(wanted_gateway text, wanted_file uuid, wanted_by text)
  returns table (is_new boolean) language plpgsql volatile as $$
declare
  file core.statement_file;
begin
  select * into file from core.statement_file f
   where f.id = wanted_file and f.gateway = wanted_gateway for update;
  if file.id is null or file.withdrawn_at is not null then
    return;
  end if;
  update core.statement_file set withdrawn_by = wanted_by, withdrawn_at = clock_timestamp() where id = wanted_file;
  with gone as (
    delete from core.gateway_window w where w.statement_id = wanted_file returning w.covers
  )
  insert into core.changed_day (day)
  select core.days_in(covers) from gone
  union
  -- A call of core.day_of for each row would take seconds.
  select (s.captured_at at time zone z.time_zone)::date
    from core.statement s
   cross join core.day_zone z
   where s.statement_id = wanted_file;
  with replaced as (
    select distinct (s.captured_at at time zone z.time_zone)::date as day, of.lender
      from core.statement s
     cross join core.day_zone z
      left join core.transaction t
        on t.gateway_payment_id = s.gateway_payment_id and t.gateway = s.gateway and t.kind = 'payment'
     -- The replaced row may have been that of the payment's own lender.
     cross join lateral (values (s.lender), (t.lender)) of (lender)
     where s.statement_id = wanted_file and s.has_replaced and of.lender is not null
  ), marked as (
    insert into core.gateway_window (gateway, lender, source, covers, is_partial, completed_at)
    select file.gateway, lender, 'file', tstzrange(core.start_of(day), core.start_of(day + 1)), true, clock_timestamp()
      from replaced
  )
  insert into core.unreadable_item (gateway, lender, key, reason, is_payment, times, backfill_id)
  select file.gateway, lender, 'withdrawn ' || wanted_file || ' ' || day, 'a file that was withdrawn had replaced it', true,
         tstzrange(core.start_of(day), core.start_of(day + 1)), wanted_file
    from replaced;
  return query select true;
end
$$;

-- Forgets what a withdrawn file said of settlements, in some of the rows that other files have taken over from it. Values that
-- another file gave go too, until they are stated again: it is not known which file gave which. Returns how many rows.
create or replace function core.forget_settlements(withdrawn_file uuid, most integer) returns bigint language sql volatile as $$
  with gone as materialized (
    select n from core.statement n where n.settled_by @> array[withdrawn_file] and n.settled_by <> '{}' limit most
  ), cleared as (
    update core.statement s
       set fee = null, tax = null, settlement_id = null, settled_at = null, utr = null, settled_by = '{}', earlier_files = '{}'
      from gone
     where s.gateway_payment_id = (n).gateway_payment_id and s.gateway = (n).gateway
  )
  select core.save_lost_parts(array(select core.lost_part_of(n, core.valid_files((n).earlier_files)) from gone))
$$;

-- Removes a withdrawn file from some lost parts, and those parts that no valid file states. Returns how many.
create or replace function core.forget_lost_parts(withdrawn_file uuid, most integer) returns bigint language sql volatile as $$
  with part as materialized (
    select settlement_id, gateway, kind, id, core.valid_files(files) as files
      from core.lost_part where files @> array[withdrawn_file] limit most
  ), gone as (
    delete from core.lost_part l using part p
     where (l.settlement_id, l.gateway, l.kind, l.id) = (p.settlement_id, p.gateway, p.kind, p.id) and p.files = '{}'
  ), stated as (
    update core.lost_part l set files = p.files from part p
     where (l.settlement_id, l.gateway, l.kind, l.id) = (p.settlement_id, p.gateway, p.kind, p.id) and p.files <> '{}'
  )
  select count(*) from part
$$;

-- Deletes some of the rows of a withdrawn file, forgets what it said in rows that other files have taken over, and saves the parts
-- of its settlements that are lost by that. Returns whether there may be more.
create or replace function core.delete_rows_of(wanted_file uuid, most integer) returns boolean language plpgsql volatile as $$
declare
  deleted integer;
begin
  perform core.lock_settling();
  with gone as (
    delete from core.statement s
     where (s.gateway_payment_id, s.gateway) in (
       select n.gateway_payment_id, n.gateway from core.statement n where n.statement_id = wanted_file limit most)
    returning s
  )
  select core.save_lost_parts(array(select core.lost_part_of(s, (s).earlier_files) from gone)) into deleted;
  if deleted = most then
    return true;
  end if;
  if core.forget_settlements(wanted_file, most) = most then
    return true;
  end if;
  with gone as (
    delete from core.settlement_row r
     where (r.settlement_id, r.gateway, r.kind, r.id) in (
       select n.settlement_id, n.gateway, n.kind, n.id from core.settlement_row n where n.statement_id = wanted_file limit most)
       -- A fetch may have taken the row over while this waited for its lock.
       and r.statement_id = wanted_file
    returning r.*
  )
  select core.save_lost_parts(array(
    select (r.gateway, r.settlement_id, r.kind, r.id, coalesce(t.lender, r.lender), r.settled_at, r.utr, r.earlier_files,
            false)::core.lost_part
      from gone r
      left join core.transaction t on t.gateway_payment_id = r.payment_id and t.gateway = r.gateway and t.kind = 'payment')) into deleted;
  if deleted = most then
    return true;
  end if;
  return core.forget_lost_parts(wanted_file, most) = most;
end
$$;

-- Saves what a fetch met and could not read. Returns the keys that no fetch met before.
create or replace function core.save_unreadable(wanted_gateway text, wanted_lender text, wanted_backfill uuid, said jsonb)
  returns setof text language sql volatile as $$
  with given as (
    select * from jsonb_to_recordset(said) as n (key text, id text, reason text, is_payment boolean, "from" timestamptz, "to" timestamptz)
  ), known as materialized (
    select u.key from core.unreadable_item u
      join given using (key)
     where u.gateway = wanted_gateway and u.lender is not distinct from wanted_lender
  ), noted as (
    insert into core.unreadable_item as u (gateway, lender, key, id, reason, is_payment, times, backfill_id)
    select wanted_gateway, wanted_lender, key, id, reason, is_payment, tstzrange("from", "to", '[]'), wanted_backfill
      from given order by key
    on conflict (gateway, lender, key) do update
       set reason = excluded.reason, is_payment = excluded.is_payment, times = excluded.times, backfill_id = excluded.backfill_id
     -- What the list of payments says about an item takes precedence over other lists of the same fetch.
     where not (u.is_payment and u.backfill_id = excluded.backfill_id)
    returning u.is_payment, u.times
  ), news as (
    insert into core.changed_day (day) select distinct core.days_in(times) from noted where is_payment
  )
  select key from given where key not in (select key from known)
$$;

-- Deletes the unreadable items that this fetch could read, and describes those that it could not; null if there are none.
create or replace function core.update_unreadable(wanted_backfill uuid, wanted_gateway text, wanted_lender text, fetched tstzrange)
  returns text language sql volatile as $$
  -- A payment that the same fetch lists readably too is in the statement.
  with gone as (
    delete from core.unreadable_item u
     using core.backfill b
     where b.id = wanted_backfill and u.backfill_id = b.id and u.is_payment
       and exists (select from core.statement s
                    where s.gateway_payment_id = u.id and s.gateway = u.gateway and s.source = 'api' and s.status <> 'failed'
                      and s.fetched_at >= b.started_at)
    returning u.times
  )
  insert into core.changed_day (day) select distinct core.days_in(times) from gone;
  with gone as (
    delete from core.unreadable_item u
     where u.gateway = wanted_gateway and u.times <@ fetched and u.backfill_id <> wanted_backfill
       and (u.lender is not distinct from wanted_lender or wanted_lender is null and not core.has_account(u.gateway, u.lender))
    returning u.is_payment, u.times
  ), news as (
    insert into core.changed_day (day) select distinct core.days_in(times) from gone where is_payment
  ), met as (
    select u.*, count(*) over () as items from core.unreadable_item u
     where u.backfill_id = wanted_backfill
     order by lower(u.times), u.key
     limit 3
  )
  select max(items) || case max(items) when 1 then ' item' else ' items' end || ' could not be read and '
           || case max(items) when 1 then 'was' else 'were' end || ' set aside: '
           || string_agg(core.day_of(lower(times)) || ' ' || coalesce(id, 'without an id') || ' (' || reason || ')', ', '
                order by lower(times), key)
           || case when max(items) > 3 then ', …' else '' end
    from met
  having count(*) > 0
$$;
