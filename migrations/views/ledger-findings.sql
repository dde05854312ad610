create or replace view ops.ledger_finding as
select "check", nullif(lender, '') as lender, state, found, expected, remedy, since, checked_at
  from loanops.ledger_finding
 order by place;
comment on view ops.ledger_finding is 'What the last check of the ledger''s set-up found, and since when';
