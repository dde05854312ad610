-- Rows that the dry run has checked.
alter table loanops.migration add column looked_at integer not null default 0;

-- How many rows had ended at the last two marks of a run: its rate is that since the older one, whatever was before.
alter table loanops.migration
  add column marked_at timestamptz,
  add column marked_rows integer,
  add column marked_before_at timestamptz,
  add column marked_before_rows integer;
