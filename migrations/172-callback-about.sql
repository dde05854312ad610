-- The pending callbacks about one payment, whatever their subjects.
create index callback_about on loanops.callback (about, seq) where state = 'pending' and type like 'payment.%';
