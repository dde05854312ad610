-- The caller's place in a trace (W3C traceparent), which the operation's calls to the ledger and its callback carry on;
-- of a payment, the place of the batch that sent it. Null if tracing is off.
alter table loanops.operation add column traceparent text;
