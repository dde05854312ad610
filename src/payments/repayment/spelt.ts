import { type RawBuilder, sql } from 'kysely'

/** An id without what files and ledgers change in it, as the index `transaction_spelt_id` has it: they keep 50 characters. */
export const spelt = (id: RawBuilder<unknown>) => sql`ltrim(lower(left(${id}, 50)), '+0')`
