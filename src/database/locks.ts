/**
 * The numbers of our advisory locks: any, as long as every process uses the same ones and nothing else does. The
 * views have 7405315 (payments-raw.sql), 7405316 (payments-core.sql), 7405318 (report-callbacks.sql), 7405319
 * (ledger-shares.sql) and 7405323 (accounts.sql).
 */
export const LOCKS = {
  migration: 7_405_313,
  /** The class of the locks by name. */
  intake: 7_405_314,
  portfolioStarts: 7_405_317,
  backfillClaims: 7_405_320,
  reconciling: 7_405_321,
  /** This number is also the class of the locks by value. */
  references: 7_405_322,
}
