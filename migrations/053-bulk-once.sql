-- Each row of a decision about many is held by a lock while it is decided, so nobody needs a claim on the whole. A worker of the
-- version before, which would decide a row without that lock, fails from here on.
drop index loanops.bulk_running;
-- squawk-ignore ban-drop-column
alter table loanops.bulk drop column claimed_until;
create index bulk_running on loanops.bulk (id) where status = 'running';
