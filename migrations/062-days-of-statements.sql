-- As before, but looks up the statements of all changed payments at once, and not one by one.
create or replace function core.note_changed_payments() returns trigger language plpgsql
  security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into core.changed_day (day)
  select (coalesce(c.paid_at, c.received_at) at time zone z.time_zone)::date
    from changed c
   cross join core.day_zone z
   where c.kind = 'payment'
  union
  select (s.captured_at at time zone z.time_zone)::date
    from (select gateway, array_agg(gateway_payment_id) as ids from changed where kind = 'payment' group by gateway) c
    join core.statement s on s.gateway_payment_id = any(c.ids) and s.gateway = c.gateway
   cross join core.day_zone z;
  return null;
end
$$;
