-- A refusal keeps the time of its next try while something else holds the payment: only where nothing does is it tried.
drop index core.transaction_retry;
create index transaction_retry on core.transaction (next_try_at)
 where state = 'suspense' and reason = refused_reason and next_try_at is not null;

-- Told anew which row to set aside: the oldest may be another by then.
drop function if exists core.put_aside(text, text);

-- For what was received since a day: rows stand about in the order in which they came, so that a few pages tell.
create index transaction_received on core.transaction using brin (received_at);

-- No index begins with the gateway: on a small table PostgreSQL takes it for the way to each payment, and reads all of them.
