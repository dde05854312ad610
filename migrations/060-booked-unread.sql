-- Looked up for all payments of a batch at once from now on.
drop function if exists core.is_booked_unread(text, text);
