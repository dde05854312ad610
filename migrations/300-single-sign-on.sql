-- An account of single sign-on is known by its issuer and the issuer's own id of the person, and has no password.
-- Every reader that knows these accounts also knows that they have none.
-- squawk-ignore ban-drop-not-null
alter table loanops.account alter column password_hash drop not null;
alter table loanops.account add column oidc_issuer text;
alter table loanops.account add column oidc_subject text;
create unique index account_of_person on loanops.account (oidc_issuer, oidc_subject);

-- Made by the command create-admin: its password opens the console whatever PASSWORD_LOGIN says.
alter table loanops.account add column made_by_command boolean not null default false;
update loanops.account set made_by_command = true
 where username in (select subject from loanops.audit
                     where action = 'account.register' and actor = 'command create-admin');
