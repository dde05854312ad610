-- Whoever asks what the unfinished wait for. On the index of all unfinished alone PostgreSQL would rather read the whole
-- index of what is not a payment's than test a few rows in vain.
create index operation_unfinished_of_view on loanops.operation (seq) where status = 'processing' and origin <> 'payment';

-- How many attempts in a row ended like this one: an outage of hours is one row, not thousands.
alter table loanops.operation_attempt add column times integer not null default 1;
