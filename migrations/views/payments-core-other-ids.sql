-- Whether this payment's money is booked under its own id, also by hand, is being booked, or is to be booked by an operator's word.
create or replace function core.has_its_money(p core.transaction) returns boolean language sql immutable parallel safe as $$
  select (p.state in ('posting', 'posted') or p.decision in ('post', 'handled')) is true
$$;

-- The id that a mandate's debit gives its payment, if no payment here has it.
create or replace function core.unseen_id_of(p core.transaction) returns text
  language plpgsql stable set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
  if p.hints ->> 'cf_txn_id' is null then
    return null;
  end if;
  return (select p.hints ->> 'cf_txn_id'
           where not exists (select from core.transaction o
                              where o.gateway_payment_id = p.hints ->> 'cf_txn_id' and o.gateway = p.gateway and o.kind = 'payment'));
end
$$;

-- The other ids of this payment's money. While it is booked (perhaps by hand) or being booked: those of its twins that are not.
-- Always: the id that it names itself, if no payment here has it, because there may be refunds under that id.
create or replace function core.other_ids_of(p core.transaction) returns text[]
  language plpgsql stable set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
  return case when core.has_its_money(p)
           then array(select o.gateway_payment_id from core.twins_of(p) o
                       where o.state in ('waiting', 'suspense', 'dismissed') and not core.is_foreign_twin(o, p)) end
      || core.unseen_id_of(p);
end
$$;

-- If the refunded payment's money is booked, or waits, under a twin's id: that id.
create or replace function core.booked_instead(r core.transaction) returns text
  language plpgsql stable set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
  return (
    select case when p.id is null then (
                  select o.gateway_payment_id from core.transaction o
                   where o.hints ->> 'cf_txn_id' = r.of_payment_id and o.gateway = r.gateway and o.kind = 'payment'
                   order by o.is_verified desc, o.id limit 1)
                when p.state in ('waiting', 'suspense', 'dismissed') then core.twin_of(p) end
      from (select) here
      left join core.transaction p on core.is_payment_of(p, r));
end
$$;

-- The payments with refunds among these, and the payments that have the money of these under another id.
create or replace function core.payments_of_refunds(wanted_gateway text, ids text[]) returns text[] language plpgsql stable as $$
declare
  refunded text[] := array(
    select distinct r.of_payment_id from core.transaction r
     where r.of_payment_id = any(ids || array(
             select t.hints ->> 'cf_txn_id' from core.transaction t
              where t.gateway_payment_id = any(ids) and t.gateway = wanted_gateway and t.hints ->> 'cf_txn_id' is not null))
         and r.gateway = wanted_gateway and r.kind <> 'payment');
begin
  refunded := refunded || array(select c.payment_id from core.claimed_elsewhere(wanted_gateway, ids) c);
  -- Most calls find none, and planning this costs more than the rest.
  if refunded <> '{}' then
    refunded := refunded || array(
      select o.gateway_payment_id
        from core.transaction p
       cross join lateral core.twins_of(p) o
       where p.gateway_payment_id = any(refunded) and p.gateway = wanted_gateway and p.kind = 'payment'
         and core.has_its_money(o.*)
      union all
      select o.gateway_payment_id from core.transaction o
       where o.hints ->> 'cf_txn_id' = any(refunded) and o.gateway = wanted_gateway and o.kind = 'payment');
  end if;
  return refunded;
end
$$;
