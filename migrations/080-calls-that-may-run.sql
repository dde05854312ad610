-- The attempt whose write may have been sent; one that had only started was not.
alter table loanops.operation add column sent_attempt integer;

-- A call under the operation's current key may have been sent, and nothing shows that it has ended: then a refusal of ours
-- says nothing about what that call will do.
alter table loanops.operation add column may_still_run boolean not null default false;

update loanops.operation set may_still_run = true where status = 'processing' and look_first;
