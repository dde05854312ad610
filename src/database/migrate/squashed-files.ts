/** The last commit whose `migrations/` had the files below, which the nine files of the areas then replaced. */
export const SQUASHED_AT = '6eb9c1f42bbdc51ef226bd7949a754dac0df9591'

export const SQUASHED_FILES = `
010-operations.sql 020-events.sql 030-payments.sql 040-books.sql 050-reconciliation.sql 060-portfolio.sql
070-callbacks.sql 080-accounts.sql 090-console.sql 140-bank-reference.sql 151-approval-kind.sql 160-lost-parts.sql
161-moved-parts.sql 172-callback-about.sql 180-settled-by.sql 200-quiet-statistics.sql 210-verified-refunds.sql
230-callback-behind.sql 240-settlement-of-payment.sql 260-decided-unreadable.sql 280-waiting-since.sql
310-may-be-booked.sql 312-reported-by.sql 320-newer-transfers.sql 330-unverified-loans.sql 340-payouts.sql
350-assigned-over.sql 360-zeros-before-ids.sql 385-same-transfers.sql 386-spelt-ids.sql 430-foreign-events.sql
440-reports-rows.sql
`
  .trim()
  .split(/\s+/)
