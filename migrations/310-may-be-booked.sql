-- Whether a payment's repayment was refused because the ledger may have its money already.
alter table core.transaction add column may_be_booked boolean not null default false;

update core.transaction t
   set may_be_booked = true
  from loanops.operation o
 where o.id = t.operation_id and t.kind = 'payment' and t.state in ('waiting', 'suspense', 'failed')
   and o.response #>> '{errors,0,userMessageGlobalisationCode}'
         ~ ('differs\.at\.ledger|reversal_refused|value\.must\.be\.unique|duplicate\.externalId'
            '|unknown\.data\.integrity\.issue');
