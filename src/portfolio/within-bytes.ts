import { type RawBuilder, sql } from 'kysely'

/** A row may have 100,000 characters. The first one is taken whatever its size. */
export const BYTES_AT_ONCE = 256 * 1024

/** @param rows with `line` and `cells` @returns as many of them, in the order of their lines, as fit */
export const withinBytes = (rows: RawBuilder<unknown>) => sql`
  select *
    from (select *, sum(octet_length(cells)) over (order by line) - octet_length(cells) as bytes_before
            from (${rows}) next) counted
   where bytes_before < ${BYTES_AT_ONCE}
   order by line`
