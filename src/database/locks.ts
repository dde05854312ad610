/**
 * The numbers of all our advisory locks: any, as long as nothing else in the database uses them. Those with a file's
 * name are taken in that file of migrations/views.
 */
export const LOCKS = {
  migration: 7_405_313,
  /** The class of the locks by name. */
  intake: 7_405_314,
  makingRawTables: 7_405_315, // payments-raw.sql
  settling: 7_405_316, // payments-core.sql
  portfolioStarts: 7_405_317,
  numberingCallbacks: 7_405_318, // report-callbacks.sql
  sharing: 7_405_319, // ledger-shares.sql
  backfillClaims: 7_405_320,
  reconciling: 7_405_321,
  /** This number is also the class of the locks by value. */
  references: 7_405_322,
  sealing: 7_405_323, // accounts.sql
  postings: 7_405_324,
}
