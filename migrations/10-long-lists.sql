-- Indexes of lists with a long history, whose filters otherwise read all of it. Each index is used where the query names its condition
-- as it is written here, which keeps the planner from taking it for other queries while it is small.

-- Pending callbacks, newest first: normally there are none, and the next page is looked for among all that were delivered.
create index callback_pending_newest on loanops.callback (created_at, seq) where state || '' = 'pending';
-- Operations of payments that are no plain repayments: reversals are few among them.
create index operation_of_payment_by_type on loanops.operation (operation_type, seq)
  where origin = 'payment' and operation_type <> 'REPAYMENT';
-- Which files are withdrawn, for each settlement that is summed up.
create index statement_file_withdrawn on core.statement_file (id) where withdrawn_at is not null;
