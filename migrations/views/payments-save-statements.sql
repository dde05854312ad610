-- What a file says, with the ids of its settlements where it names them by their UTRs and one of that UTR is known. Of a payment
-- that the gateway's API lists in other settlements, a file does not say which one it is in.
create or replace function core.with_settlement_ids(wanted_gateway text, said jsonb) returns jsonb language sql stable as $$
  with known as materialized (
    select n.utr, (select min(settlement_id)
                     from (select settlement_id from core.current_settlement_row r
                            where r.utr = n.utr and r.gateway = wanted_gateway and r.settlement_id <> n.utr
                            union
                           select settlement_id from core.current_statement s
                            where s.utr = n.utr and s.gateway = wanted_gateway and s.settlement_id <> n.utr) named
                   having count(*) = 1) as id
      from (select distinct utr from jsonb_to_recordset(said) as r (settlement_id text, utr text) where settlement_id = utr) n
  )
  select coalesce(jsonb_agg(case when api.is_other and not n ? 'kind' then n - array['settlement_id', 'settled_at', 'utr']
                                 when k.id is null then n else n || jsonb_build_object('settlement_id', k.id) end), '[]')
    from jsonb_array_elements(said) n
    left join known k on k.utr = n ->> 'utr' and n ->> 'settlement_id' = k.utr
   cross join lateral (
     select bool_and(r.settlement_id <> coalesce(k.id, n ->> 'settlement_id')) as is_other
       from core.settlement_row r
      where r.id = n ->> 'id' and r.gateway = wanted_gateway and r.kind = 'payment' and r.statement_id is null) api
$$;

-- Gives settlements that a file named by their UTRs the ids that are said now.
create or replace function core.name_settlements(wanted_gateway text, said jsonb) returns void language plpgsql volatile as $$
declare
  named record;
begin
  for named in
    select n.utr, min(n.settlement_id) as id
      from jsonb_to_recordset(said) as n (settlement_id text, utr text)
     where n.settlement_id <> n.utr
       and (exists (select from core.settlement_row r where r.settlement_id = n.utr and r.gateway = wanted_gateway)
            or exists (select from core.statement s where s.settlement_id = n.utr and s.gateway = wanted_gateway)
            or exists (select from core.lost_part l where l.settlement_id = n.utr and l.gateway = wanted_gateway))
     group by n.utr
    having count(distinct n.settlement_id) = 1
  loop
    delete from core.settlement_row r
     using core.settlement_row o
     where r.settlement_id = named.utr and r.gateway = wanted_gateway
       and o.settlement_id = named.id and (o.gateway, o.kind, o.id) = (r.gateway, r.kind, r.id);
    update core.settlement_row set settlement_id = named.id where settlement_id = named.utr and gateway = wanted_gateway;
    update core.statement set settlement_id = named.id where settlement_id = named.utr and gateway = wanted_gateway;
    delete from core.lost_part l
     using core.lost_part o
     where l.settlement_id = named.utr and l.gateway = wanted_gateway
       and o.settlement_id = named.id and (o.gateway, o.kind, o.id) = (l.gateway, l.kind, l.id);
    update core.lost_part set settlement_id = named.id where settlement_id = named.utr and gateway = wanted_gateway;
  end loop;
end
$$;

create or replace function core.lost_part_of(s core.statement, files uuid[], is_moved boolean default false) returns core.lost_part
  language sql immutable parallel safe as $$
  select row(s.gateway, s.settlement_id, 'payment', s.gateway_payment_id, s.lender, s.settled_at, s.utr, files, is_moved)::core.lost_part
$$;

-- Saves lost parts of settlements: rows that are gone, or name another settlement, while other files still state the part. Parts
-- that no other file states are left out. Returns how many were given.
create or replace function core.save_lost_parts(parts core.lost_part[]) returns bigint language sql volatile as $$
  insert into core.lost_part as l
  select * from unnest(parts) where settlement_id is not null and files <> '{}' order by id
  on conflict (settlement_id, gateway, kind, id) do update
     set files = core.valid_files(l.files || excluded.files), is_moved = l.is_moved and excluded.is_moved;
  select cardinality(parts)::bigint
$$;

-- Deletes the rows that withdrawn files have left of these payments, and saves the parts of settlements that are lost by that.
create or replace function core.delete_withdrawn(wanted_gateway text, said jsonb) returns void language sql volatile as $$
  with gone as (
    delete from core.statement s
     using core.statement_file f
     where f.id = s.statement_id and f.withdrawn_at is not null and s.gateway = wanted_gateway
       and s.gateway_payment_id in (select n.id from jsonb_to_recordset(said) as n (id text))
    returning s
  )
  select core.save_lost_parts(array(select core.lost_part_of(s, (s).earlier_files) from gone))
$$;

-- Adds what is said of the settlement to rows that say more of the money: reports call a payment captured that was refunded
-- since.
create or replace function core.settle_refunded(wanted_gateway text, wanted_file uuid, said jsonb) returns void language sql volatile as $$
  update core.statement s
     set lender = case when s.source = 'file' and wanted_file is not null
                       then core.lender_of('file', wanted_gateway, n.lender, core.proved_lender(t))
                       else coalesce(nullif(s.lender, 'UNKNOWN'), n.lender, 'UNKNOWN') end,
         fee = coalesce(n.fee, s.fee), tax = coalesce(n.tax, s.tax),
         settlement_id = coalesce(n.settlement_id, s.settlement_id), settled_at = coalesce(n.settled_at, s.settled_at),
         utr = coalesce(n.utr, s.utr),
         settled_by = array_remove(s.settled_by, wanted_file)
                      || case when num_nonnulls(n.fee, n.tax, n.settlement_id, n.settled_at, n.utr) > 0 then stated.files else '{}' end,
         earlier_files = case when s.settlement_id <> n.settlement_id then '{}' else array_remove(s.earlier_files, wanted_file) end
                         || case when n.settlement_id is not null then stated.files else '{}' end
    from jsonb_to_recordset(said) as n (
           id text, lender text, status text, fee numeric, tax numeric, settlement_id text, settled_at timestamptz,
           utr text)
    left join core.transaction t on t.gateway_payment_id = n.id and t.gateway = wanted_gateway and t.kind = 'payment'
   cross join lateral (select array_remove(array[wanted_file], null) as files) stated
   where s.gateway_payment_id = n.id and s.gateway = wanted_gateway and (s.status, n.status) = ('refunded', 'captured');
$$;

-- Saves what a gateway says. A captured payment stays captured, whatever an earlier response says; only a later file
-- takes back what a file says, and nothing is left of what a withdrawn file says. The rows are locked against settling of
-- the same payments: each would miss the day that the other is about to give them.
create or replace function core.save_statements(wanted_gateway text, wanted_source text, wanted_file uuid, said jsonb) returns void
  language sql volatile as $$
  select core.lock_settling();
  select core.name_settlements(wanted_gateway, said);
  select core.delete_withdrawn(wanted_gateway, said);
  -- A payment that another settlement names now is kept among the lost parts of its former one, as moved: the file that names
  -- the new one may be withdrawn.
  select core.save_lost_parts(array(
    select core.lost_part_of(s, array_remove(array_remove(s.earlier_files || s.statement_id, null), wanted_file), is_moved => true)
      from (select distinct n.id, n.settlement_id from jsonb_to_recordset(said) as n (id text, settlement_id text)) n
      join core.statement s on s.gateway_payment_id = n.id and s.gateway = wanted_gateway and s.settlement_id <> n.settlement_id));
  insert into core.statement as s (gateway, gateway_payment_id, lender, amount, currency, status, captured_at, fee, tax,
    settlement_id, settled_at, utr, source, statement_id)
  select wanted_gateway, n.id,
         case when wanted_source = 'file' then core.lender_of('file', wanted_gateway, n.lender, core.proved_lender(t))
              else coalesce(nullif(n.lender, 'UNKNOWN'), case when not core.is_unproved_to_lender(t) then nullif(t.lender, 'UNKNOWN') end,
                   n.asked_for, 'UNKNOWN') end,
         n.amount, n.currency, n.status, n.captured_at, n.fee, n.tax, n.settlement_id, n.settled_at, n.utr, wanted_source, wanted_file
    from jsonb_to_recordset(said) as n (id text, lender text, asked_for text, amount numeric, currency text, status text,
      captured_at timestamptz, fee numeric, tax numeric, settlement_id text, settled_at timestamptz, utr text, is_event boolean)
    left join core.transaction t on t.gateway_payment_id = n.id and t.gateway = wanted_gateway and t.kind = 'payment'
    -- A report of settlements does not say that a payment was refunded since.
    left join core.statement o on o.gateway_payment_id = n.id and o.gateway = wanted_gateway
      and (o.status, n.status) = ('refunded', 'captured') and o.source = 'file' and n.is_event
   where o.status is null
   order by n.id
  on conflict (gateway_payment_id, gateway) do update
     set lender = case when excluded.lender = 'UNKNOWN' then s.lender else excluded.lender end,
         amount = excluded.amount, currency = excluded.currency, status = excluded.status, captured_at = excluded.captured_at,
         fee = coalesce(excluded.fee, s.fee), tax = coalesce(excluded.tax, s.tax),
         settlement_id = coalesce(excluded.settlement_id, s.settlement_id),
         settled_at = coalesce(excluded.settled_at, s.settled_at), utr = coalesce(excluded.utr, s.utr),
         fetched_at = now(), source = excluded.source, statement_id = excluded.statement_id,
         has_replaced = excluded.source = 'file',
         settled_by = case when num_nonnulls(case when excluded.fee is null then s.fee end,
                                             case when excluded.tax is null then s.tax end,
                                             case when excluded.settlement_id is null then s.settlement_id end,
                                             case when excluded.settled_at is null then s.settled_at end,
                                             case when excluded.utr is null then s.utr end) = 0 then '{}'
                           else array_remove(array_remove(s.settled_by || s.statement_id, excluded.statement_id), null) end,
         earlier_files = case when s.settlement_id = coalesce(excluded.settlement_id, s.settlement_id)
                              then array_remove(s.earlier_files || s.statement_id, excluded.statement_id) else '{}' end
   where (s.source, excluded.source) = ('file', 'file')
      or array_position(array['failed', 'captured', 'refunded'], excluded.status)
           >= array_position(array['failed', 'captured', 'refunded'], s.status);
  select core.settle_refunded(wanted_gateway, wanted_file, said);
  -- A file's row that says more counts as one that replaced the answer or the other file's row, whose state is not stored.
  update core.statement s set has_replaced = true from jsonb_to_recordset(said) as n (id text)
   where s.gateway_payment_id = n.id and s.gateway = wanted_gateway
     and s.statement_id is distinct from wanted_file and s.source = 'file' and not s.has_replaced
$$;

-- Saves parts of settlements: of no file, as the gateway's API lists them; then a file changes them no more.
create or replace function core.save_settlement_rows(wanted_gateway text, wanted_lender text, wanted_file uuid, said jsonb) returns void
  language sql volatile as $$
  select core.name_settlements(wanted_gateway, said);
  -- Earlier versions stored the payout itself and its balance as parts.
  delete from core.lost_part l
   using jsonb_to_recordset(said) as n (settlement_id text, kind text, id text, is_of_payout boolean)
   where n.is_of_payout and l.gateway = wanted_gateway and l.settlement_id = n.settlement_id and l.kind = n.kind and l.id = n.id;
  delete from core.settlement_row r
   using jsonb_to_recordset(said) as n (settlement_id text, kind text, id text, is_of_payout boolean)
   where n.is_of_payout and r.gateway = wanted_gateway and r.settlement_id = n.settlement_id and r.kind = n.kind and r.id = n.id;
  -- They stored these parts under other ids: none may count twice.
  delete from core.settlement_row r
   using jsonb_to_recordset(said) as n (settlement_id text, kind text, id text, formerly text, paid_out numeric)
   where n.formerly is not null and r.gateway = wanted_gateway and r.settlement_id = n.settlement_id and r.kind = n.kind and r.id <> n.id
     and case n.kind when 'refund' then r.id = n.formerly
         -- Reports spell it this way.
         else r.id = replace(n.id, '_REVERSAL ', '_REVERSE ')
              or starts_with(r.id, n.formerly) and r.paid_out is not distinct from n.paid_out
              -- Later ids have the minute in UTC.
              and split_part(substr(r.id, length(n.formerly) + 1), ' ', 1) !~ '^.{16}Z$' end;
  insert into core.settlement_row as r (gateway, settlement_id, kind, id, payment_id, lender, settled_at, utr, amount, fee, tax,
    paid_out, statement_id)
  select wanted_gateway, n.settlement_id, n.kind, n.id, coalesce(n.payment_id, case n.kind when 'payment' then n.id end),
         wanted_lender, n.settled_at, n.utr, n.amount, coalesce(n.fee, 0), coalesce(n.tax, 0), n.paid_out, wanted_file
    from jsonb_to_recordset(said) as n (kind text, id text, payment_id text, settlement_id text, settled_at timestamptz, utr text,
      amount numeric, fee numeric, tax numeric, paid_out numeric, is_of_payout boolean)
   where n.is_of_payout is not true
   order by n.settlement_id, n.kind, n.id
  on conflict (settlement_id, gateway, kind, id) do update
     set payment_id = coalesce(excluded.payment_id, r.payment_id), lender = excluded.lender,
         settled_at = excluded.settled_at, utr = excluded.utr, amount = excluded.amount, fee = excluded.fee, tax = excluded.tax,
         paid_out = excluded.paid_out, statement_id = excluded.statement_id,
         earlier_files = case when excluded.statement_id is null then r.earlier_files
                              else array_remove(r.earlier_files || r.statement_id, excluded.statement_id) end
   where excluded.statement_id is null or r.statement_id is not null
$$;
