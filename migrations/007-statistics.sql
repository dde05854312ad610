-- What is unfinished comes and goes. Statistics that are taken when nothing is say that nothing ever will be: PostgreSQL
-- then takes the index of the unfinished for the shortest way to anything, and walks the whole of it for each claim once
-- thousands wait. Without any it reckons with a two-hundredth of the table.
alter table loanops.operation alter column status set statistics 0;
alter table core.transaction alter column state set statistics 0;
