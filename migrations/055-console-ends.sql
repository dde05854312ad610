-- Payments that ended otherwise than posted, by the day on which they were paid: among a month of posted ones they are few. What
-- is posted, as nearly all are, pays for none of it.
create index transaction_not_posted on core.transaction (state, paid_at, id)
  where state in ('suspense', 'failed', 'returned', 'handled', 'dismissed');
-- The failures of one loan or client, and the creation of a loan, which names its client: both are looked for among everything
-- that ever happened to it. Other operations pay for neither.
create index operation_failed_of_subject on loanops.operation (external_id, seq) where status = 'failed';
create index operation_loan_create on loanops.operation (external_id, seq) where operation_type = 'LOAN_CREATE';
-- The few whose outcome is unknown, within a backlog of any size.
create index operation_unknown on loanops.operation (seq) where status = 'processing' and unknown_since is not null;
-- Callbacks of all but the two most frequent types, which need no index.
create index callback_of_rare_type on loanops.callback (type, seq) where type not in ('operation.succeeded', 'payment.posted');
