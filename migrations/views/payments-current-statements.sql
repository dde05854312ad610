-- What counts of the statements: the rows of a withdrawn file do not, even while they are not deleted yet.
create or replace view core.current_statement as
select s.* from core.statement s
 where not exists (select from core.statement_file f where f.id = s.statement_id and f.withdrawn_at is not null);

create or replace view core.current_settlement_row as
select r.* from core.settlement_row r
 where not exists (select from core.statement_file f where f.id = r.statement_id and f.withdrawn_at is not null);
