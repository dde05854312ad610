-- Events that could not be read, or were taken for money although they are none, are read again by the next batch, now that
-- a NUL no longer hides the money, and mandates' limits are no payments.
do $$
declare
  noted record;
begin
  for noted in
    with again as (
      insert into core.pending_event (source, raw_id, received_at, again)
      select distinct e.source, e.raw_id, e.received_at, true
        from core.transaction t
        join core.event e on e.gateway_payment_id = t.gateway_payment_id and e.gateway = t.gateway and e.kind = t.kind
       where t.state = 'suspense' and t.reason in ('unreadable', 'unknown_event') and t.decision is null
         and e.problem in ('unreadable', 'unknown_event')
      on conflict do nothing
      returning source, raw_id
    )
    select source, array_agg(raw_id) as ids from again group by source
  loop
    -- A database with events has the views of the version before. They are counted again when they are transformed.
    perform core.uncount_rows(noted.source, noted.ids);
  end loop;
end
$$;
