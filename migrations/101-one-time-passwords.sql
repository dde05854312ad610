-- An administrator has reset the password: it only opens the change of it.
alter table loanops.account add column must_change_password boolean not null default false;
