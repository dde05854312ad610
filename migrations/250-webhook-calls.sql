-- The last calls of each gateway's webhook, stored or refused, for whoever sets one up. Without bodies.
create table loanops.webhook_call (
  id uuid not null default gen_random_uuid() primary key,
  gateway text not null,
  at timestamptz not null,
  address inet,
  status integer not null,
  event_type text,
  lender text not null,
  reason text
);
