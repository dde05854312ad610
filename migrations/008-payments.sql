-- A refusal keeps the time of its next try while something else holds the payment: only where nothing does is it tried.
drop index core.transaction_retry;
create index transaction_retry on core.transaction (next_try_at)
 where state = 'suspense' and reason = refused_reason and next_try_at is not null;

-- Told anew which row to set aside: the oldest may be another by then.
drop function if exists core.put_aside(text, text);
