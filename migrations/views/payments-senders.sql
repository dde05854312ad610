-- Whether a lender with this product accepts events of this gateway only from its own networks, and not from this address.
create or replace function core.is_outside(wanted_product text, wanted_gateway text, address inet) returns boolean
  language sql stable as $$
  select exists (select from core.allowed_network n where n.product = wanted_product and n.gateway = wanted_gateway)
     and not exists (select from core.allowed_network n
                      where n.product = wanted_product and n.gateway = wanted_gateway and address <<= n.network)
$$;

-- The same for an event that may have been fetched from the gateway itself, and then has no sender.
create or replace function core.is_outside(wanted_product text, wanted_gateway text, address inet, verified_by text) returns boolean
  language sql stable as $$
  select verified_by is distinct from 'gateway_api' and core.is_outside(wanted_product, wanted_gateway, address)
$$;

-- The product of a loan; until the ledger has been asked for it, the product of the lender that the event named.
create or replace function core.product_of(loan text, lender text) returns text language sql stable as $$
  select coalesce((select p.product from core.loan_product p where p.external_loan_id = loan),
                  (select n.product from core.allowed_network n where n.lender = product_of.lender limit 1))
$$;

-- Marks events that come from outside the networks of the loan's lender. `touched` has payments together with their
-- refunds. If events name several loans, those count whose events come from inside their lender's networks; likewise if
-- events of one refund name several payments, or none.
create or replace function core.mark_outside(wanted_gateway text, touched text[]) returns void language sql volatile as $$
  with named as (
    select e.source, e.raw_id, e.kind, e.gateway_payment_id, e.address, e.verified_by, e.is_outside, s.payment_id,
           e.kind = 'payment' and e.status = 'captured' as is_money,
           core.product_of(coalesce(t.assigned_loan_id, e.external_loan_id,
             case when t.matched_by is not null then t.named_loan_id end), e.lender) as product
      from core.event e
     cross join lateral (select case when e.kind = 'payment' then e.gateway_payment_id else e.of_payment_id end) s (payment_id)
      left join core.transaction t on t.gateway_payment_id = s.payment_id and t.gateway = e.gateway and t.kind = 'payment'
     where e.gateway_payment_id = any(touched) and e.gateway = wanted_gateway and e.set_aside is null
  ), by_own_loan as (
    select *, core.is_outside(product, wanted_gateway, address, verified_by) as is_out from named
  ), with_inside as (
    select *, bool_or(is_money and not is_out) over (partition by payment_id) as any_inside from by_own_loan
  ), with_deciding as (
    -- One event of each product is enough, however many there are.
    select *, is_money and not (is_out and any_inside)
              and row_number() over (partition by payment_id, product, is_money, is_out) = 1 as is_deciding
      from with_inside
  ), with_products as (
    select *, array_agg(product) filter (where is_deciding) over (partition by payment_id) as products from with_deciding
  ), by_payment as (
    select *, is_out or exists (
             select from unnest(products) p where core.is_outside(p, wanted_gateway, address, verified_by)) as is_out_of_payment
      from with_products
  ), with_first as (
    -- Here too, one event of each kind is enough.
    select *, row_number() over (partition by kind, gateway_payment_id, is_out_of_payment, product, products) = 1 as is_first
      from by_payment
  ), with_refund as (
    select *, jsonb_agg(products || product) filter (where kind <> 'payment' and is_first and not is_out_of_payment)
                over (partition by kind, gateway_payment_id) as products_of_refund
      from with_first
  ), weighed as (
    select *, is_out_of_payment
              or exists (select from jsonb_array_elements(products_of_refund) named
                          cross join lateral jsonb_array_elements_text(named) p
                          where core.is_outside(p, wanted_gateway, address, verified_by)) as is_outside_now
      from with_refund
  )
  update core.event e
     set is_outside = w.is_outside_now
    from weighed w
   where w.is_outside_now <> w.is_outside
     and e.source = w.source and e.raw_id = w.raw_id and e.kind = w.kind and e.gateway_payment_id = w.gateway_payment_id
$$;

-- The loans whose lenders decide which events of a payment, or of a refund that names several payments, come from
-- outside, and whose product the ledger has not been asked for. Loans named from inside anybody's networks come first:
-- strangers must not keep us busy.
create or replace function core.unasked_loans(wanted_gateway text, payment_id text) returns setof text
  language sql stable as $$
  select loan
    from (select coalesce(t.assigned_loan_id, e.external_loan_id, case when t.matched_by is not null then t.named_loan_id end) as loan,
                 e.received_at, e.verified_by is not null as is_verified, e.status = 'captured' as is_captured,
                 e.verified_by is not distinct from 'gateway_api'
                   or exists (select from core.allowed_network n where n.gateway = e.gateway and e.address <<= n.network) as is_inside
            from core.event e
            left join core.transaction t
              on t.gateway_payment_id = e.gateway_payment_id and t.gateway = e.gateway and t.kind = e.kind
           where e.gateway_payment_id in (
                   select unasked_loans.payment_id
                   union
                   select of_payment_id from core.event r
                    where r.gateway_payment_id = unasked_loans.payment_id and r.gateway = wanted_gateway and r.set_aside is null)
             and e.gateway = wanted_gateway and e.kind = 'payment' and e.status in ('captured', 'failed') and e.set_aside is null) named
   where core.can_be_loan(loan) and not exists (select from core.loan_product p where p.external_loan_id = loan)
   group by loan
   order by bool_or(is_inside) desc, bool_or(is_verified) desc, bool_or(is_captured) desc, min(received_at)
   -- However many loans are named, we ask for no more than these.
   limit 5
$$;

create or replace function core.with_loan(t core.transaction) returns text language sql immutable parallel safe as $$
  select t.kind || ' ' || t.gateway_payment_id || coalesce(' ' || t.external_loan_id, '')
$$;

-- Notes payments with an objection whose lender the ledger has not been asked for, and refunds that name several payments. Also
-- payments that were not there `before`, or had another loan: what came with them was judged before they had this one.
create or replace function core.note_unjudged_payments(wanted_gateway text, touched text[], before text[]) returns void
  language sql volatile as $$
  insert into core.unjudged_payment (gateway, gateway_payment_id, may_wait)
  select t.gateway, t.gateway_payment_id,
         not exists (select from core.event e join core.allowed_network n on n.gateway = e.gateway and e.address <<= n.network
                      where e.gateway_payment_id = t.gateway_payment_id and e.gateway = t.gateway and e.kind = t.kind
                        and e.set_aside is null)
    from core.transaction t
   where t.gateway_payment_id = any(touched) and t.gateway = wanted_gateway
     and case when t.kind = 'payment'
           then t.reason = 'events_disagree' or t.objection is not null
                -- A verified event may have taken the place of others that count, once it turns out to come from outside.
                or exists (select from core.event e
                            where e.gateway_payment_id = t.gateway_payment_id and e.gateway = t.gateway and e.kind = t.kind
                              and e.status = 'captured' and e.set_aside is null
                              and (e.amount <> t.amount or e.currency <> t.currency or e.external_loan_id <> t.named_loan_id))
                or exists (select from core.transaction r
                            where r.of_payment_id = t.gateway_payment_id and r.gateway = t.gateway and r.kind <> 'payment')
           else exists (select from core.event e
                         where e.gateway_payment_id = t.gateway_payment_id and e.gateway = t.gateway and e.kind = t.kind
                           and e.of_payment_id <> t.of_payment_id and e.set_aside is null)
         end
     and ((core.with_loan(t) = any(before)) is not true or exists (select from core.unasked_loans(t.gateway, t.gateway_payment_id)))
  on conflict do nothing
$$;

-- Saves the product that the ledger named, null if it has no such loan, and settles again the payments that were settled
-- without it.
create or replace function core.learn_product(loan text, product text) returns void language plpgsql
  set enable_seqscan = off as $$
declare
  settled record;
begin
  -- Usually the product is known, and nothing needs to be written.
  if exists (select from core.loan_product p
              where p.external_loan_id = loan and p.product = learn_product.product and p.learned_at > now() - interval '1 minute') then
    return;
  end if;
  update core.loan_product p set learned_at = now() where p.external_loan_id = loan and p.product = learn_product.product;
  if found then
    return;
  end if;
  perform core.lock_settling();
  if product is null then
    delete from core.loan_product p where p.external_loan_id = loan;
  else
    insert into core.loan_product (external_loan_id, product) values (loan, learn_product.product)
    on conflict (external_loan_id) do update set product = excluded.product, learned_at = excluded.learned_at;
  end if;
  for settled in
    select t.gateway, array_agg(t.gateway_payment_id) as payment_ids
      from core.transaction t
     where t.external_loan_id = loan and t.kind = 'payment'
       and (t.unconfirmed is not null
            or exists (select from core.transaction r
                        where r.of_payment_id = t.gateway_payment_id and r.gateway = t.gateway and r.kind <> 'payment'
                          and r.unconfirmed is not null)
            or t.state in ('waiting', 'posting', 'suspense') and (exists (select from core.event r
                     where r.of_payment_id = t.gateway_payment_id and r.gateway = t.gateway and r.set_aside is null)
            or (select count(*) from (select from core.event e
                                       where e.gateway_payment_id = t.gateway_payment_id and e.gateway = t.gateway
                                         and e.set_aside is null
                                       limit 2) two) > 1))
     group by t.gateway
  loop
    perform core.settle(settled.gateway, settled.payment_ids, has_news => false);
  end loop;
end
$$;

-- Copies the networks from the settings. If they have changed, everything whose events were or may now be outside them is
-- settled again.
create or replace function core.copy_networks(networks jsonb) returns void language plpgsql as $$
begin
  if core.copy_settings('core.allowed_network', networks) is null then
    return;
  end if;
  delete from core.loan_product;
  insert into core.unjudged_payment (gateway, gateway_payment_id)
  select gateway, gateway_payment_id from core.event where set_aside = 'too_many'
  union
  select gateway, case when kind = 'payment' then gateway_payment_id else of_payment_id end
    from core.event where is_outside and (kind = 'payment' or of_payment_id is not null)
  union
  select gateway, gateway_payment_id
    from core.transaction
   where state = 'suspense' and reason in ('events_disagree', 'refund', 'chargeback') and kind = 'payment'
  on conflict do nothing;
  -- Which events are trusted, and thus which are too many, depends on the networks.
  update core.event set set_aside = null where set_aside = 'too_many';
end
$$;
