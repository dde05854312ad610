-- Whether a refund is stated in another settlement, too: few parts of settlements are refunds.
create index settlement_row_of_refund on core.settlement_row (id, gateway) where kind = 'refund';
