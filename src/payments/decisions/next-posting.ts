import { sql } from 'kysely'

/** The external id of an undone repayment stays reserved. */
export const nextPostingNumber = sql`posting_number + (reason = 'reversed_at_ledger')::integer`

export const withoutRefusal = sql`refused_reason = null, refused_at = null, tries = 0, next_try_at = null`
