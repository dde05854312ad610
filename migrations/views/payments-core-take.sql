-- Transforms the given new rows of one source, and settles the payments that they concern.
create or replace function core.take(wanted_source text, ids uuid[],
  out taken bigint, out suspended bigint, out failed bigint) language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  source core.source;
  changed text[];
begin
  perform core.lock_settling();
  select * into source from core.source s where s.name = wanted_source;
  with gone as (
    delete from core.pending_event p where p.source = wanted_source and p.raw_id = any(ids) returning p.received_at
  ), counted as (
    update core.source s set events = s.events + g.events, last_event_at = greatest(s.last_event_at, g.last_event_at)
      from (select count(*) as events, max(received_at) as last_event_at from gone) g
     where s.name = wanted_source and g.events > 0
  )
  select count(*) into taken from gone;
  suspended := 0;
  failed := 0;
  if taken = 0 then
    return;
  end if;
  changed := core.note_events(source, ids);
  if changed is null then
    return;
  end if;
  perform core.settle(source.gateway, changed, true);
  select count(*) filter (where t.state = 'suspense'), count(*) filter (where t.state = 'failed')
    into suspended, failed
    from core.transaction t
   where t.gateway_payment_id = any(changed) and t.gateway = source.gateway;
end
$$;

-- Transforms up to `most` rows, oldest first; fewer if they are large.
create or replace function core.transform(wanted_source text, most integer,
  out taken bigint, out suspended bigint, out failed bigint) language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  ids uuid[];
begin
  perform core.lock_settling();
  -- Reading a mebibyte takes about 10 ms: with thousands of such bodies, the statement would always time out.
  execute format($sql$
    select array_agg(raw_id)
      from (select p.raw_id, sum(octet_length(r.body)) over (order by p.raw_id) - octet_length(r.body) as bytes_before
              from (select raw_id from core.pending_event where source = $1 order by raw_id limit $2) p
              left join raw.%I r on r.id = p.raw_id) next
     where bytes_before < 64 * 1024 * 1024 is not false$sql$, wanted_source)
    using wanted_source, most into ids;
  select t.taken, t.suspended, t.failed into taken, suspended, failed from core.take(wanted_source, ids) t;
end
$$;

-- Records a row as unreadable.
create or replace function core.put_aside(wanted_source text, row_id uuid, error text,
  out taken bigint, out suspended bigint, out failed bigint) language plpgsql as $$
begin
  perform core.lock_settling();
  delete from core.pending_event p where p.source = wanted_source and p.raw_id = row_id;
  get diagnostics taken = row_count;
  suspended := taken;
  failed := 0;
  if taken = 0 then
    return;
  end if;
  insert into core.event (source, raw_id, gateway, kind, gateway_payment_id, status, problem, lender, received_at, hints)
  select name, row_id, gateway, 'payment', row_id::text, 'captured', 'unreadable', lender, now(), jsonb_build_object('error', error)
    from core.source where name = wanted_source
  on conflict do nothing;
  update core.source set events = events + 1 where name = wanted_source;
  perform core.count_row(wanted_source, row_id);
  perform core.settle((select gateway from core.source where name = wanted_source), array[row_id::text], true);
end
$$;
