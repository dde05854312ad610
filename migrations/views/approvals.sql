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
               and loanops.may_do(role, a.act)) as may_propose) p;
comment on view ops.approval is 'What was proposed, by whom, and what a second person decided';

-- Stores the end of the proposals that are over, and skips those that somebody is deciding at this moment. It runs as the owner,
-- because workers may have a role that cannot read approvals.
create or replace function loanops.end_due_approvals() returns void language sql volatile security definer
  set search_path = pg_catalog, pg_temp as $$
  update loanops.approval a
     set state = v.state, request = request - 'password_hash', decided_at = coalesce(v.decided_at, now())
    from ops.approval v
   where v.approval_id = a.id and v.state <> 'proposed'
     and a.id = any(array(select due.id from loanops.approval due
                            join ops.approval shown on shown.approval_id = due.id
                           where due.state = 'proposed' and shown.state <> 'proposed'
                             for update of due skip locked))
$$;

-- Deletes some of the approvals that ended more than those days ago. Ids start with the time of the proposal.
create or replace function loanops.purge_approvals(days integer, most integer) returns integer language plpgsql volatile
  security definer set search_path = pg_catalog, pg_temp as $$
declare
  purged integer;
begin
  if days < 1 then
    raise exception 'no approval is deleted that ended less than a day ago' using errcode = 'invalid_parameter_value';
  end if;
  delete from loanops.approval
   where id = any(array(select id from loanops.approval
                         where state <> 'proposed' and id < core.first_id_at(now() - days * interval '1 day')
                           and decided_at < now() - days * interval '1 day'
                         order by id limit most for update skip locked));
  get diagnostics purged = row_count;
  return purged;
end
$$;
