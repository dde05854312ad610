create or replace view ops.audit as
select at, actor, action, subject, address, request_id, detail, id, caller
  from loanops.audit;
comment on view ops.audit is 'Who did what, when and from where';
