-- Several adjustments of one moment may have the same id at gateway B: what each adds now belongs to its name here.
update core.settlement_row set id = id || ' ' || trim_scale(paid_out)::text
 where gateway = 'gateway_b' and kind = 'other' and paid_out is not null;
