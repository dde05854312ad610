-- A later file stated the payment in another settlement: it is lost here only if no row of that file, or of a later one,
-- counts any more.
alter table core.lost_part add column is_moved boolean not null default false;
