-- What became of a form of the console that was sent, so that its second arrival shows the same.
create table loanops.sent_form (
  -- Of the account, the form's token, its action and its values.
  sha256 bytea primary key,
  sent_at timestamptz not null default now(),
  -- Where the first arrival led. Null while it is under way, and for ever if its process died there.
  location text
);
comment on table loanops.sent_form is 'Forms of the console that were sent within a day, and where each led.';
