-- A refused payment keeps the time of its next try while something else holds it, and is tried only once nothing does.
drop index core.transaction_retry;
create index transaction_retry on core.transaction (next_try_at)
 where state = 'suspense' and reason = refused_reason and next_try_at is not null;

-- Replaced by a function whose caller names the row to set aside: by then, another row may be the oldest.
drop function if exists core.put_aside(text, text);

-- For rows received since a day: they lie roughly in order of arrival, so a few pages are enough.
create index transaction_received on core.transaction using brin (received_at);

-- No index begins with the gateway: on a small table, PostgreSQL would use it to find one payment and read them all.
