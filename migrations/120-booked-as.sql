-- The payment's id with which an operator's posting of an unreadable event is booked, if the event shows one: the ledger then
-- refuses the same payment's own posting. Null for what was decided before, which keeps its external id.
alter table core.transaction add column booked_as text;
