-- What a gateway states as the sum that a settlement paid out is a row of the settlement, but none of its parts. All rows so
-- far are of the other kinds.
alter table core.settlement_row drop constraint settlement_row_kind_check;
alter table core.settlement_row add constraint settlement_row_kind_check
  check (kind in ('payment', 'refund', 'other', 'payout')) not valid;
