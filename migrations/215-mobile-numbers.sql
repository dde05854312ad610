-- A dry run looks for the clients of ours that have a row's mobile number.
create index operation_mobile_number on loanops.operation ((data->>'mobileNo')) where data->>'mobileNo' is not null;
