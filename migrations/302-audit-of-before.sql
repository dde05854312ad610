-- The rows from before the chain. In a transaction of its own, so that no act waits until all are copied.
insert into loanops.audit_unsealed (id, inserted_at) select id, at from loanops.audit
on conflict do nothing;
