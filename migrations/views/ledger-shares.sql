-- Deals slots out one by one, in turn: first what each process wants, then the rest, up to what each can use.
create or replace function loanops.deal_slots(slots integer, wanted integer[], most integer[]) returns integer[]
  language plpgsql immutable as $$
declare
  dealt integer[] := array_fill(0, array[cardinality(wanted)]);
  before integer := -1;
  wish integer[];
begin
  foreach wish slice 1 in array array[wanted, most] loop
    before := -1;
    while slots > 0 and slots <> before loop
      before := slots;
      for i in 1 .. cardinality(wish) loop
        if slots > 0 and dealt[i] < least(wish[i], most[i]) then
          dealt[i] := dealt[i] + 1;
          slots := slots - 1;
        end if;
      end loop;
    end loop;
  end loop;
  return dealt;
end
$$;

-- Renews and returns a process's share of the ledger calls that all processes may make together. A smaller share is advice:
-- the slots count as held until the process reports that it no longer uses them. Half of all slots, rounded down, are for
-- batches and migrations; the rest are for live operations only.
create or replace function loanops.renew_ledger_share(me uuid, total integer, lease_seconds double precision,
  live_held integer, bulk_held integer, wanted_live integer, wanted_bulk integer, most_live integer, most_bulk integer,
  out live integer, out bulk integer) language plpgsql as $$
declare
  half integer := total / 2;
  held record;
begin
  -- Processes renew their shares one at a time, so that no two take the same free slot.
  perform pg_advisory_xact_lock(7405319);
  delete from loanops.ledger_share s where s.leased_until < clock_timestamp();
  insert into loanops.ledger_share as s
  values (me, live_held, bulk_held, wanted_live, wanted_bulk, most_live, most_bulk,
          clock_timestamp() + make_interval(secs => lease_seconds))
  on conflict (process) do update
     set live = excluded.live, bulk = excluded.bulk, live_wanted = excluded.live_wanted, bulk_wanted = excluded.bulk_wanted,
         live_most = excluded.live_most, bulk_most = excluded.bulk_most, leased_until = excluded.leased_until;
  -- The order changes every ten seconds, so that each gets its turn if there are more processes than slots. Whoever comes
  -- last in one half comes first in the other.
  select live_share[place], bulk_share[cardinality(bulk_share) + 1 - place] into live, bulk
    from (select array_position(array_agg(s.process order by turn), me) as place,
                 loanops.deal_slots(total - half, array_agg(s.live_wanted order by turn),
                                    array_agg(s.live_most order by turn)) as live_share,
                 loanops.deal_slots(half, array_agg(s.bulk_wanted order by turn desc),
                                    array_agg(s.bulk_most order by turn desc)) as bulk_share
            from loanops.ledger_share s
           cross join lateral md5(s.process::text || floor(extract(epoch from clock_timestamp()) / 10)::text) turn) dealt;
  select sum(s.live)::integer as live, sum(s.bulk)::integer as bulk, sum(s.live + s.bulk)::integer as both_lanes into held
    from loanops.ledger_share s;
  -- A share grows only by slots that no process holds.
  bulk := least(bulk, bulk_held + greatest(0, least(half - held.bulk, total - held.both_lanes)));
  live := least(live, live_held + greatest(0, least(total - half - held.live, total - held.both_lanes - greatest(0, bulk - bulk_held))));
  update loanops.ledger_share s
     set live = greatest(s.live, renew_ledger_share.live), bulk = greatest(s.bulk, renew_ledger_share.bulk)
   where s.process = me;
end
$$;
