-- Ids in digits that begin with zeros, by what a spreadsheet leaves of them: a file is checked against the loans and clients of
-- ours that it would create once more.
create index operation_zeros_before_id on loanops.operation (ltrim(external_id, '0')) where external_id ~ '^0[0-9]*$';
