-- Earlier versions stored a report's row under the lender that an event named, verified or not. Now a row keeps the lender of its
-- file, and each reading works out which other lender the payment belongs to.
update core.statement s
   set lender = f.lender
  from core.statement_file f
 where f.id = s.statement_id and s.source = 'file' and s.lender <> f.lender;

-- Which payments of a day are one, and whose they are, is decided anew.
insert into core.changed_day (day) select distinct day from core.day_figure;
