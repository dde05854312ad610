-- After a restore, the callbacks of subjects that the back-up does not know begin beyond what the receiver may have seen.
alter table loanops.callback_receiver add column first_sequence bigint not null default 0;
