-- What counts of the statements: the rows of a withdrawn file do not, even while they are not deleted yet. Which files are withdrawn
-- is asked once for all rows: most rows are of no file.
create or replace view core.current_statement as
select s.* from core.statement s
 where (s.statement_id = any (array(select f.id from core.statement_file f where f.withdrawn_at is not null))) is not true;

create or replace view core.current_settlement_row as
select r.* from core.settlement_row r
 where (r.statement_id = any (array(select f.id from core.statement_file f where f.withdrawn_at is not null))) is not true;

-- Whether `later` was stated after `earlier`, which is the same part of another settlement: by the API, or after other files.
create or replace function core.is_stated_after(later core.current_settlement_row, earlier core.current_settlement_row) returns boolean
  language sql immutable parallel safe as $$
  select case when later.statement_id is null and earlier.statement_id is null then later.settled_at > earlier.settled_at
              else coalesce(later.statement_id > earlier.statement_id, later.statement_id is null) end
$$;

-- The same without the refunds that were stated in another settlement later, as where a payout failed. A payment is a part of the
-- settlement that core.statement names.
create or replace view core.settlement_part as
select r.* from core.current_settlement_row r
 where not (r.kind = 'refund' and exists (
   select from core.current_settlement_row o
    where o.id = r.id and o.gateway = r.gateway and o.kind = 'refund' and o.settlement_id <> r.settlement_id
      and o.payment_id is not distinct from r.payment_id and core.is_stated_after(o, r)));

-- Parts of settlements that a valid file states but that have no row: the row went with a withdrawn file, and no later file has
-- brought it back. Until the row of a withdrawn file is deleted, the part is read from the row itself.
create or replace view core.current_lost_part as
select l.*
  from (select gateway, settlement_id, kind, id, lender, settled_at, utr, files, is_moved from core.lost_part
        union all
        select r.gateway, r.settlement_id, r.kind, r.id, r.lender, r.settled_at, r.utr, r.earlier_files, false
          from core.settlement_row r
          join core.statement_file f on f.id = r.statement_id and f.withdrawn_at is not null
        union all
        select s.gateway, s.settlement_id, 'payment', s.gateway_payment_id, s.lender, s.settled_at, s.utr, s.earlier_files, false
          from core.statement s
          join core.statement_file f on f.id = s.statement_id and f.withdrawn_at is not null
         where s.settlement_id is not null) l
 where exists (select from core.statement_file f where f.id = any (l.files) and f.withdrawn_at is null)
   and not exists (select from core.current_settlement_row r
                    where r.settlement_id = l.settlement_id and r.gateway = l.gateway and r.kind = l.kind and r.id = l.id)
   -- A payment or refund that was stated in another settlement later is lost in none.
   and not exists (select from core.current_statement s
                    where s.gateway_payment_id = l.id and s.gateway = l.gateway and l.kind = 'payment' and s.settlement_id is not null)
   and not exists (select from core.current_settlement_row o
                    where o.id = l.id and o.gateway = l.gateway and o.kind = 'refund' and l.kind = 'refund'
                      and (o.statement_id > all (l.files)) is not false);

-- The files that still count, each once.
create or replace function core.valid_files(files uuid[]) returns uuid[] language sql stable as $$
  select array(select f.id from core.statement_file f where f.id = any (files) and f.withdrawn_at is null order by f.id)
$$;

create or replace function core.has_account(of_gateway text, of_lender text) returns boolean language sql stable as $$
  select exists (select from core.gateway_account a where a.gateway = of_gateway and a.account = of_lender)
$$;

-- Whether this payment was booked, whatever became of it since at the ledger.
create or replace function core.was_booked(t core.transaction) returns boolean language sql immutable parallel safe as $$
  select (t.posted_at is not null or t.posting_number > 1 or t.decision = 'handled'
          or array['reversed_at_ledger', 'missing_at_ledger']
             && (t.overruled || array[t.refused_reason, t.decided_over ->> 'refused_reason'])) is true
$$;

-- Whether the loan's lender takes none of the payment's events as proved: its lender is not taken from them.
create or replace function core.is_unproved_to_lender(t core.transaction) returns boolean language sql immutable parallel safe as $$
  select t.refused_reason is not distinct from 'signature_not_verified'
$$;

-- The payment's lender, if a verified event names it, or if the payment was booked without overruling a lender_mismatch. What only
-- an unverified event names beside a verified one does not count.
create or replace function core.proved_lender(t core.transaction) returns text language sql immutable parallel safe as $$
  select case when t.is_verified and not starts_with(t.source, 'unknown_')
                or core.was_booked(t) and 'lender_mismatch' <> all(t.overruled)
                   and t.decided_over ->> 'refused_reason' is distinct from 'lender_mismatch' then t.lender end
$$;

-- The lender of a statement's row. A report of an account that serves several lenders has the payments of all of them: one
-- that is known here is its own lender's (`known`, as proved), unless the report is of a lender with an account of its own.
create or replace function core.lender_of(source text, of_gateway text, stated text, known text) returns text
  language sql stable as $$
  select case when source = 'file' and known not in (stated, 'UNKNOWN') and not core.has_account(of_gateway, stated)
              then known else stated end
$$;
