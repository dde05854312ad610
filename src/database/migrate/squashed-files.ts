/** The last commit whose `migrations/` had one file per change, which these files then replaced by one per area. */
export const SQUASHED_AT = 'aa13584215d2e2ce31942c2d06e2ad554a38f0d2'

export const SQUASHED_FILES = `
001-operations.sql 002-payments.sql 003-accounts.sql 004-migration.sql 005-retention.sql 006-payment-objections.sql
007-statistics.sql 008-payments.sql 009-views-applied.sql 011-unstarted-claims.sql 012-waiting-and-attempts.sql
013-senders.sql 014-portfolio.sql 015-migration-progress.sql 016-migration-types.sql 017-gateways-and-fates.sql
018-decisions.sql 019-readback.sql 020-event-types.sql 021-resolve.sql 022-distinct-facts.sql 023-callbacks.sql
024-dry-run-after.sql 025-statements.sql 026-control.sql 027-ledger-shares.sql 029-traces.sql 030-reconciliation.sql
035-confirmations.sql 043-console.sql 044-search.sql 045-bulk.sql 048-unreadable-twins.sql 049-backfill-pending.sql
053-bulk-once.sql 054-console-lists.sql 055-console-ends.sql 056-callbacks-due.sql 057-adjustments-of-one-moment.sql
061-inlined-ids.sql 062-days-of-statements.sql 070-dead-rows.sql 071-fewer-index-entries.sql 080-calls-that-may-run.sql
081-kept-readings.sql 085-read-again.sql 086-reopened-payments.sql 087-products-of-lenders.sql 100-askers.sql
101-one-time-passwords.sql 102-audit-stamps.sql 120-booked-as.sql 121-read-unread-again.sql 122-payer-fee.sql
130-unreadable-items.sql 131-statement-files.sql 132-valid-figures.sql 133-settlements.sql 150-sent-forms.sql
151-loans-of-clients.sql 180-ignored-members.sql 210-link-events.sql 215-mobile-numbers.sql 220-uploaded-files.sql
221-statement-errors.sql 240-ledger-findings.sql 250-webhook-calls.sql 251-first-sequence.sql 270-references.sql
271-link-ids.sql 280-reversals.sql 294-approvals.sql 300-single-sign-on.sql 301-audit-chain.sql 302-audit-of-before.sql
`
  .trim()
  .split(/\s+/)
