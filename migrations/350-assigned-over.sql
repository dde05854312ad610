-- What an operator chose the payment's loan over: amount, currency, whether that was verified, and the loans and references that
-- its events named. What they state afterwards was not part of the decision. Null where nobody chose one, or where that was not
-- kept yet.
alter table core.transaction add column assigned_over jsonb;

-- Disagreement 'assignment': the events state something else than what the loan was chosen over.
alter table core.transaction
  drop constraint if exists transaction_disagreement_check,
  add constraint transaction_disagreement_check check (disagreement in ('money', 'loan', 'assignment')) not valid;
