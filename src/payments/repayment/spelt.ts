import { type RawBuilder, sql } from 'kysely'

/**
 * An id without what files and ledgers change in it; they keep 50 characters. The index `transaction_spelt_id` has the same
 * expression.
 */
export const spelt = (id: RawBuilder<unknown>) => sql`ltrim(lower(left(${id}, 50)), '+0')`
