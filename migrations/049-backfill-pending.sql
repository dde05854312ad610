-- The events that no batch has taken yet, as a fetch has read them: each once, and not again for every page. A row without a
-- payment is of an event that reports none as captured.
create table core.backfill_pending (
  backfill_id uuid not null,
  source text not null,
  raw_id uuid not null,
  payment_id text,
  is_verified boolean not null
);
create index backfill_pending_event on core.backfill_pending (backfill_id, source, raw_id);
create index backfill_pending_payment on core.backfill_pending (backfill_id, payment_id) where payment_id is not null;

drop function if exists core.unverified_payments(text, text[]);
