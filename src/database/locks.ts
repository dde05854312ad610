/** The numbers of our advisory locks: any, as long as nothing else in the database uses them, the views included. */
export const LOCKS = {
  migration: 7_405_313,
  /** The class of the locks by name. */
  intake: 7_405_314,
  portfolioStarts: 7_405_317,
  backfillClaims: 7_405_320,
  reconciling: 7_405_321,
  /** This number is also the class of the locks by value. */
  references: 7_405_322,
  postings: 7_405_324,
}
