-- Where refunds and disputes are not signed, a stranger may send any number of them; the verified ones of a payment are few.
create index transaction_verified_of_payment on core.transaction (of_payment_id, gateway) where is_verified and kind <> 'payment';
