-- Not the predicate of callback_pending: with old statistics, which stay where none are taken any more, PostgreSQL would read
-- all of that one for each callback.
create index callback_behind on loanops.callback (about, seq) where state || '' = 'pending' and type like 'payment.%';
drop index loanops.callback_about;
