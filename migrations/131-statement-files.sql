-- The files in which gateways' own reports were uploaded, each with what it says in core.statement.
create table core.statement_file (
  id uuid primary key,
  gateway text not null,
  lender text not null,
  file_name text,
  rows bigint not null,
  valid_rows bigint not null,
  uploaded_by text not null,
  uploaded_at timestamptz not null default clock_timestamp(),
  withdrawn_by text,
  withdrawn_at timestamptz
);
create index statement_file_gateway on core.statement_file (gateway, id);

-- Null if no file says it, or one of before there were ids. Whether the file's row took the place of another.
alter table core.statement add column statement_id uuid, add column has_replaced boolean not null default false;
create index statement_of_file on core.statement (statement_id) where statement_id is not null;

-- A part of the file's rows of these times was refused, or what it had replaced is gone.
alter table core.gateway_window add column statement_id uuid, add column is_partial boolean not null default false;
create index gateway_window_of_file on core.gateway_window (statement_id) where statement_id is not null;

-- Beside 'captured', which stands for a complete statement: 'partial', without payments.
alter table core.day_figure drop constraint day_figure_bucket_check;
alter table core.day_figure add constraint day_figure_bucket_check check (bucket in ('captured', 'partial', 'posted', 'unchecked',
  'waiting', 'suspense', 'handled', 'dismissed', 'returned', 'missing', 'not_at_gateway')) not valid;

-- Its parameters change here.
drop function if exists core.keep_statements(text, text, jsonb);
