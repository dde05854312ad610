-- Which unknown members of its request were dropped; null if none.
alter table loanops.operation add column ignored text[];
