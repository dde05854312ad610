-- The id that its maker gave a link, by which its payments may be registered: their own events have only the gateway's.
-- squawk-ignore ban-drop-not-null
alter table core.link_event alter column external_loan_id drop not null;
alter table core.link_event add column hints jsonb;

-- A column is renamed here.
drop function if exists core.summarize(text, text[]);
