create or replace view ops.approval as
select a.id as approval_id, a.act, a.subject, a.amount, a.currency,
       case when a.state <> 'proposed' then a.state when a.expires_at <= now() then 'expired'
            when not p.may_propose then 'withdrawn' else 'proposed' end as state,
       a.proposed_by, a.proposed_at, a.note, a.decided_by,
       case when a.state = 'proposed' and a.expires_at <= now() then a.expires_at
            else a.decided_at end as decided_at,
       a.decision_note, a.expires_at
  from loanops.approval a
 -- Whether the proposer may still propose matters only while the proposal is open.
 cross join lateral (
   select a.state <> 'proposed' or exists (
            select from loanops.account
             where lower(username) = lower(a.proposed_by) and disabled_at is null
               and (role = 'admin' or role <> 'viewer' and a.act not like 'account.%')) as may_propose) p;
comment on view ops.approval is 'What was proposed, by whom, and what a second person decided';
