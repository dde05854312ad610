-- The files that state a part of a settlement too, and whose row a later file took over.
alter table core.settlement_row add column earlier_files uuid[] not null default '{}';
alter table core.statement add column earlier_files uuid[] not null default '{}';

-- Parts of settlements whose rows went with a withdrawn file although those other files state them too.
create table core.lost_part (
  gateway text not null,
  settlement_id text not null,
  kind text not null,
  id text not null,
  lender text,
  settled_at timestamptz,
  utr text,
  files uuid[] not null,
  primary key (settlement_id, gateway, kind, id)
);
create index lost_part_settled on core.lost_part (settled_at);
create index lost_part_utr on core.lost_part (utr) where utr is not null;
