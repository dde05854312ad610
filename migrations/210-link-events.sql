-- Which loan a payment link is for, as its events say: those of its payments may only name the link.
create table core.link_event (
  gateway text not null,
  link_id text not null,
  source text not null,
  raw_id uuid not null,
  external_loan_id text not null,
  lender text not null,
  verified_by text,
  address inet,
  received_at timestamptz not null,
  primary key (gateway, link_id, source, raw_id)
);

create index event_of_link on core.event ((hints #>> '{order_tags,cf_link_id}'), gateway)
 where hints #>> '{order_tags,cf_link_id}' is not null and set_aside is null;

-- Beside the former ones, 'named': an event of its link, which says nothing about the money.
alter table core.event drop constraint event_status_check;
alter table core.event add constraint event_status_check check (status in ('captured', 'failed', 'named', 'open', 'done', 'undone',
  'never_captured', 'unknown')) not valid;
