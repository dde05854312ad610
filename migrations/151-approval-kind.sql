-- A payment and a refund of one gateway may have the same id: a proposal about one must not keep the other's out.
drop index loanops.approval_open;
create unique index approval_open on loanops.approval (act, subject, coalesce(facts ->> 'kind', '')) where state = 'proposed';
