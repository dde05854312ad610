-- The number of a claim that has not begun its attempt: where it is another than `attempt`, the claim may have written to
-- the ledger. A process of an earlier version raises `attempt` alone, so that its claims count as begun.
alter table loanops.operation add column unstarted_attempt integer;
