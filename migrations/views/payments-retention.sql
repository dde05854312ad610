-- Whether a payment is closed: no batch will change it and no decision is pending.
create or replace function core.is_closed(t core.transaction) returns boolean language sql stable as $$
  select t.state in ('posted', 'failed', 'returned', 'handled', 'dismissed') and t.objection is null
     and not exists (select from core.unjudged_payment u
                      where u.gateway_payment_id = t.gateway_payment_id and u.gateway = t.gateway)
$$;

-- Whether an event can be deleted: everything that refers to it or that it refers to is closed. An unreadable event has
-- only its raw row's id: it is kept, because a repeat would become another payment.
create or replace function core.is_dispensable(e core.event) returns boolean language sql stable as $$
  select e.gateway_payment_id <> e.raw_id::text
     and not exists (
       select from core.transaction t
        where t.gateway = e.gateway and not core.is_closed(t)
          and (t.gateway_payment_id = e.gateway_payment_id and t.kind = e.kind
               or t.gateway_payment_id = e.of_payment_id and t.kind = 'payment'))
     and not exists (
       select from core.transaction refund
        where refund.of_payment_id = e.gateway_payment_id and refund.gateway = e.gateway and refund.kind <> 'payment'
          and e.kind = 'payment' and not core.is_closed(refund))
$$;

-- Looks at the next rows after this id, and deletes those that are at least this many days old and that nothing open
-- needs. Raw tables refuse every other deletion. Returns the last id seen, null at the end.
create or replace function raw.delete_closed(store text, keep_days integer, after uuid, most integer,
  out deleted bigint, out last_id uuid) language plpgsql security definer
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  cut_off timestamptz := now() - keep_days * interval '1 day';
begin
  if keep_days < 1 or not exists (select from core.source s where s.name = store) then
    raise exception 'only events of a source are deleted, and none that is younger than a day' using errcode = 'invalid_parameter_value';
  end if;
  perform set_config('loanops.deleting_raw', store || ' ' || pg_current_xact_id(), true);
  execute format($sql$
    with next as materialized (
      select id, received_at from raw.%I where id > $2 and id < core.first_id_at($3) order by id limit $4
    ), dispensable as materialized (
      select next.id from next
       where next.received_at < $3
         and not exists (select from core.pending_event p where p.source = $1 and p.raw_id = next.id)
         and not exists (select from core.event e
                          where e.source = $1 and e.raw_id = next.id and not core.is_dispensable(e))
    ), gone as (
      delete from raw.%I r using dispensable d where r.id = d.id returning r.id
    )
    select (select count(*) from gone), (select id from next order by id desc limit 1)$sql$, store, store)
    using store, after, cut_off, most into deleted, last_id;
  perform set_config('loanops.deleting_raw', '', true);
end
$$;
