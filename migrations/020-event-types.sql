-- The event types that a gateway's function knows, those that it ignores included: *, at the end, stands for any text.
alter table core.gateway add column known_types text[] not null default '{}';

-- How often each source sent which type of event, and how it is taken. Only so many names per source: anybody may send
-- any text as a type where signatures are not validated.
create table core.event_type (
  source text not null,
  event_type text not null,
  taken text not null check (taken in ('payment', 'refund', 'chargeback', 'ignored', 'unknown')),
  events bigint not null,
  last_at timestamptz,
  primary key (source, event_type)
);

-- Checks that only allow more than before, as in 018. An event of an unknown type has a status of its own, so that it
-- never counts as money.
alter table core.event drop constraint event_status_check;
alter table core.event add constraint event_status_check
  check (status in ('captured', 'failed', 'open', 'done', 'undone', 'never_captured', 'unknown')) not valid;
alter table core.event drop constraint event_problem_check;
alter table core.event add constraint event_problem_check
  check (problem in ('unreadable', 'amount_invalid', 'unknown_event', 'awaiting_review')) not valid;
alter table core.transaction drop constraint transaction_problem_check;
alter table core.transaction add constraint transaction_problem_check
  check (problem in ('unreadable', 'amount_invalid', 'unknown_event', 'awaiting_review')) not valid;
