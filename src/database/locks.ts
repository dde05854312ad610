/**
 * The numbers of all our advisory locks: any, as long as nothing else in the database uses them. Those that are named after
 * a file are taken in that file of migrations/views.
 */
export const LOCKS = {
  migration: 7_405_313,
  /** The class of the locks by name. */
  intake: 7_405_314,
  /** payments-raw.sql */
  makingRawTables: 7_405_315,
  /** payments-core.sql */
  settling: 7_405_316,
  portfolioStarts: 7_405_317,
  /** report-callbacks.sql */
  numberingCallbacks: 7_405_318,
  /** ledger-shares.sql */
  sharing: 7_405_319,
  backfillClaims: 7_405_320,
  reconciling: 7_405_321,
  /** This number is also the class of the locks by value. */
  references: 7_405_322,
  /** accounts.sql */
  sealing: 7_405_323,
  postings: 7_405_324,
}
