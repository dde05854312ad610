-- Set by ops.reread: what the event said before is forgotten when a batch takes it, unless an operator has decided meanwhile.
alter table core.pending_event add column again boolean not null default false;
