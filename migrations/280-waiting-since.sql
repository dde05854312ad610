-- Since when a payment waits to be posted that did not wait from the beginning: before, it lay in suspense, or was posted and
-- undone. A batch that tries it in vain does not change the time.
alter table core.transaction add column waiting_since timestamptz;

create function core.note_waiting() returns trigger language plpgsql as $$
begin
  new.waiting_since := now();
  return new;
end
$$;
create trigger note_waiting before update of state on core.transaction
  for each row when (new.state = 'waiting' and old.state not in ('waiting', 'posting'))
  execute function core.note_waiting();
