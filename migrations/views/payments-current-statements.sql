-- What counts of the statements: the rows of a withdrawn file do not, even while they are not deleted yet.
create or replace view core.current_statement as
select s.* from core.statement s
 where not exists (select from core.statement_file f where f.id = s.statement_id and f.withdrawn_at is not null);

create or replace view core.current_settlement_row as
select r.* from core.settlement_row r
 where not exists (select from core.statement_file f where f.id = r.statement_id and f.withdrawn_at is not null);

-- What files that count state and nobody has stated again since the last row of it was withdrawn.
create or replace view core.current_lost_part as
select l.* from core.lost_part l
 where exists (select from core.statement_file f where f.id = any (l.files) and f.withdrawn_at is null)
   and not exists (select from core.current_settlement_row r
                    where r.settlement_id = l.settlement_id and r.gateway = l.gateway and r.kind = l.kind and r.id = l.id)
   and not exists (select from core.current_statement s
                    where s.gateway_payment_id = l.id and s.gateway = l.gateway and s.settlement_id = l.settlement_id
                      and l.kind = 'payment');
