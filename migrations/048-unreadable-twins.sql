-- Unreadable events by the payment that they are about, if that much can be read.
create index transaction_unreadable on core.transaction ((hints ->> 'payment_id')) where problem = 'unreadable';
