-- A payer who asks where the money went knows only the bank's reference of it.
create index transaction_bank_reference on core.transaction ((coalesce(hints ->> 'utr', hints ->> 'bank_reference')))
  where coalesce(hints ->> 'utr', hints ->> 'bank_reference') is not null;
