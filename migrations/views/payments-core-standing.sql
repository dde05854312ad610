-- Whether a payment's money is booked is asked in five ways:
--   core.was_booked(payment)       it was at the ledger at some time, whatever became of it there
--   core.has_its_money(payment)    it is booked under its own id now, perhaps by hand, is being booked, or is to be booked by decision
--   core.booked_instead(refund)    the twin's id under which the refunded payment's money is booked or waits
--   core.is_booked(event)          the refund or chargeback that the event reports was taken out of its payment
--   payment.may_be_booked          a column: its repayment may be at the ledger, although LoanOps does not know it

-- What the events say now. It is saved with an operator's choice of loan (core.transaction.assigned_over), so that later events can
-- be seen to disagree with it.
create or replace function core.basis_of_choice(t core.transaction) returns jsonb language sql stable as $$
  select jsonb_build_object('amount', t.amount, 'currency', t.currency, 'is_verified', t.is_verified,
           'loans', array_remove(array_agg(distinct e.external_loan_id) || t.named_loan_id, null),
           'refs', coalesce(t.refs, core.references_of(array_agg(e.hints) filter (where e.hints is not null)), '{}'))
    from core.weigh_events(t.gateway, array[t.gateway_payment_id]) e
   where e.kind = t.kind and e.status in ('captured', 'named')
     and (e.ignored_for is null or e.ignored_for = 'superseded' and t.hints -> 'unverified' ? 'loan')
$$;

-- The loans that this payment's events name: those of its link count where the payment itself names none.
create or replace function core.loans_named(t core.transaction) returns setof text language sql stable as $$
  select n.loan
    from (select e.external_loan_id as loan, e.status, bool_or(e.status = 'captured') over () as is_named
            from core.weigh_events(t.gateway, array[t.gateway_payment_id]) e
           where e.kind = t.kind and e.status in ('captured', 'named') and e.ignored_for is null
             and e.external_loan_id is not null) n
   where n.status = 'captured' or not n.is_named
$$;

-- Whether these references name another loan. The references that the operator saw do not count, whatever loans they have by now.
-- In PL/pgSQL, because few payments are assigned.
create or replace function core.refer_elsewhere(t core.transaction, refs text[], paid_at timestamptz) returns boolean
  language plpgsql stable as $$
begin
  return (select (m.disagrees or core.is_another_loan(t, m.loan)) is true
            from core.match_references(t.gateway, array(
              select unnest(refs) except select jsonb_array_elements_text(t.assigned_over -> 'refs')), paid_at) m);
end
$$;

-- What the events disagree about. They disagree with the assignment if they state other money or another loan than when it was
-- made, or bring a reference of another loan. What only lies beside the gateway's answer is judged before posting.
create or replace function core.disagreement_with(t core.transaction, disagreement text, all_outside boolean,
  amount numeric, currency text, loan text, refs text[], paid_at timestamptz) returns text language plpgsql stable as $$
begin
  if t.assigned_over is null or disagreement = 'money' or all_outside then
    return disagreement;
  end if;
  if amount <> (t.assigned_over ->> 'amount')::numeric or currency <> t.assigned_over ->> 'currency'
     or core.is_another_loan(t, loan) or core.refer_elsewhere(t, refs, paid_at)
     or exists (select from core.loans_named(t) n (loan) where core.is_another_loan(t, n.loan)) then
    return 'assignment';
  end if;
  return disagreement;
end
$$;

-- What the events said when the loan of this payment was chosen, if they disagree with that now.
create or replace function core.outdated_assignment(t core.transaction) returns text language sql stable as $$
  select concat('It was assigned to ', t.assigned_loan_id, ' when its events said ', trim_scale((o ->> 'amount')::numeric),
           ' ' || (o ->> 'currency'),
           ', loan ' || nullif(array_to_string(array(select jsonb_array_elements_text(o -> 'loans')), ' or '), ''),
           case when not (o ->> 'is_verified')::boolean then ', and nothing proved them' end)
    from (select t.assigned_over) basis (o)
   where t.disagreement = 'assignment' or t.refused_reason = 'events_disagree'
$$;
