-- Forgets what these raw rows, which are to be read again, said, and the payments that existed only because of them.
-- Events that could be read, or about which an operator has decided, stay as they are: if a corrected view gave them
-- another id, the same money would be posted twice. Call it with the lock for settling. Returns the ids of the rows that
-- may be read again, and the payments that may have changed; counts the types of the other rows again.
create or replace function core.forget_reread(wanted_source text, reread uuid[], out readable uuid[], out changed text[])
  language plpgsql volatile as $$
begin
  with forgotten as (
    delete from core.event e
     where e.source = wanted_source and e.raw_id = any(reread) and core.may_be_reread(e)
    returning e.source, e.raw_id, e.gateway, e.kind, e.gateway_payment_id, e.problem
  ), undone as (
    delete from core.transaction t using forgotten f
     where t.gateway_payment_id = f.gateway_payment_id and t.gateway = f.gateway and t.kind = f.kind
       and (f.problem = 'unreadable' or t.problem = 'unknown_event')
       -- Another event may report the same payment.
       and not exists (select from core.events_of(t.gateway, t.gateway_payment_id) e
                        where e.kind = t.kind and (e.source, e.raw_id) not in (select source, raw_id from forgotten))
  )
  select array_agg(gateway_payment_id) into changed from forgotten;
  readable := array(select id from unnest(reread) id
                     where not exists (select from core.event e
                                        where e.source = wanted_source and e.raw_id = id
                                          and e.problem in ('unreadable', 'unknown_event')));
  perform core.count_rows(wanted_source, array(select unnest(reread) except select unnest(readable)), 0);
end
$$;

-- Transforms the given new rows of one source, and settles the payments that they concern.
create or replace function core.take(wanted_source text, ids uuid[],
  out taken bigint, out suspended bigint, out failed bigint) language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  source core.source;
  reread uuid[];
  readable uuid[];
  forgotten text[];
  changed text[];
begin
  perform core.lock_settling();
  select * into source from core.source s where s.name = wanted_source;
  with gone as (
    delete from core.pending_event p where p.source = wanted_source and p.raw_id = any(ids)
    returning p.raw_id, p.received_at, p.again
  ), counted as (
    update core.source s set events = s.events + g.events, last_event_at = greatest(s.last_event_at, g.last_event_at)
      from (select count(*) as events, max(received_at) as last_event_at from gone where not gone.again) g
     where s.name = wanted_source and g.events > 0
  )
  select count(*), array_agg(raw_id) filter (where gone.again) into taken, reread from gone;
  suspended := 0;
  failed := 0;
  if taken = 0 then
    return;
  end if;
  if reread is not null then
    select f.readable, f.changed into readable, forgotten from core.forget_reread(wanted_source, reread) f;
    ids := array(select id from unnest(ids) id where id <> all(reread) or id = any(readable));
  end if;
  changed := core.note_events(source, ids) || forgotten;
  if changed is null then
    return;
  end if;
  perform core.settle(source.gateway, changed, has_news => true);
  select count(*) filter (where t.state = 'suspense'), count(*) filter (where t.state = 'failed')
    into suspended, failed
    from core.transaction t
   where t.gateway_payment_id = any(changed) and t.gateway = source.gateway;
end
$$;

-- Transforms up to `most` of the oldest rows, fewer if the rows are large.
create or replace function core.transform(wanted_source text, most integer, skipped uuid[] default '{}',
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
              from (select raw_id from core.pending_event
                     where source = $1 and raw_id <> all($3) order by raw_id limit $2) p
              left join raw.%I r on r.id = p.raw_id) next
     where bytes_before < 64 * 1024 * 1024 is not false$sql$, wanted_source)
    using wanted_source, most, skipped into ids;
  select t.taken, t.suspended, t.failed into taken, suspended, failed from core.take(wanted_source, ids) t;
end
$$;

-- Saves a row whose reading failed with this error, so that an operator decides about it.
create or replace function core.save_broken(wanted_source text, row_id uuid, error text,
  out taken bigint, out suspended bigint, out failed bigint) language plpgsql as $$
declare
  is_reread boolean;
  forgotten text[];
  named text;
begin
  perform core.lock_settling();
  delete from core.pending_event p where p.source = wanted_source and p.raw_id = row_id returning p.again into is_reread;
  taken := (is_reread is not null)::integer;
  suspended := taken;
  failed := 0;
  if taken = 0 then
    return;
  end if;
  if is_reread then
    select coalesce(cardinality(f.readable), 0), f.changed into suspended, forgotten
      from core.forget_reread(wanted_source, array[row_id]) f;
    if suspended = 0 then
      return;
    end if;
  end if;
  execute format('select base.payment_id_in_broken(body) from raw.%I where id = $1', wanted_source) using row_id into named;
  insert into core.event (source, raw_id, gateway, kind, gateway_payment_id, status, problem, lender, received_at, hints)
  select name, row_id, gateway, 'payment', row_id::text, 'captured', 'unreadable', lender, now(),
         jsonb_strip_nulls(jsonb_build_object('error', error, 'payment_id', named))
    from core.source where name = wanted_source
  on conflict do nothing;
  update core.source set events = events + 1 where name = wanted_source and not is_reread;
  perform core.count_rows(wanted_source, array[row_id], 1);
  perform core.settle((select gateway from core.source where name = wanted_source), row_id::text || forgotten, has_news => true);
end
$$;
