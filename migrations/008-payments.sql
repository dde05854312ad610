-- A refused payment keeps the time of its next try while something else holds it, and is tried only once nothing does.
drop index core.transaction_retry;
create index transaction_retry on core.transaction (next_try_at)
 where state = 'suspense' and reason = refused_reason and next_try_at is not null;

-- Replaced by one whose caller names the row to set aside: the oldest may have changed by then.
drop function if exists core.put_aside(text, text);

-- For what was received since a day: rows are roughly in the order in which they came, so a few pages are enough.
create index transaction_received on core.transaction using brin (received_at);

-- No index begins with the gateway: on a small table PostgreSQL takes it for the way to each payment, and reads all of them.
