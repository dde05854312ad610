-- The calls that are kept: of each gateway the twenty newest, as many stored as refused ones, and among each of these as
-- many of every address, while there are that many. So no flood of calls pushes out those of others. One sender may have
-- a whole /64 of IPv6.
create or replace view loanops.last_webhook_call as
select id, gateway, at, address, status, event_type, lender, reason
  from (select *, row_number() over (partition by gateway order by turn, at desc) as place
          from (select *, row_number() over (partition by gateway, status = 200 order by turn_of_address, at desc) as turn
                  from (select *, row_number() over (
                                 partition by gateway, status = 200,
                                              network(set_masklen(address, case family(address) when 6 then 64 else 32 end))
                                 order by at desc) as turn_of_address
                          from loanops.webhook_call
                         where at > now() - interval '1 day') of_addresses) of_outcomes) of_gateways
 where place <= 20;
