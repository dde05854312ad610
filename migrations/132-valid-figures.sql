-- In a transaction of its own, so that reading the rows blocks nobody.
alter table core.day_figure validate constraint day_figure_bucket_check;
