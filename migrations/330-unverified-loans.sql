-- Payments that name no loan since the gateway's answer took the place of the webhook that does: the next batch looks again.
insert into core.unjudged_payment (gateway, gateway_payment_id)
select t.gateway, t.gateway_payment_id
  from core.transaction t
 where t.kind = 'payment' and t.state = 'suspense' and t.reason in ('no_loan_named', 'awaiting_review') and t.is_verified
   and t.decision is null and t.assigned_loan_id is null
   and exists (select from core.event e
                where e.gateway_payment_id = t.gateway_payment_id and e.gateway = t.gateway and e.kind = t.kind
                  and e.verified_by is null and e.set_aside is null)
on conflict do nothing;
