-- As before, but without a search path of its own, which PostgreSQL would set and reset for every row: a body that is parsed
-- here needs none, and becomes part of the statement that inserts.
create or replace function raw.new_id() returns uuid language sql volatile parallel safe
  return encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
           placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6),
         52, 1), 53, 1), 'hex')::uuid;
