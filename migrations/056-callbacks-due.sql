-- Two indexes by attempts: PostgreSQL rewrites `(attempts > 0) = false` as `attempts <= 0`, so first attempts never used the
-- one index on that expression, and each claim read all callbacks.
drop index loanops.callback_due;
create index callback_first on loanops.callback (next_try_at) where state = 'pending' and is_next and attempts = 0;
create index callback_again on loanops.callback (next_try_at) where state = 'pending' and is_next and attempts > 0;
