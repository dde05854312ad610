/**
 * The member that an operation keeps, and shows in its data: the period that its rate refers to, once it is known
 * from the ledger.
 */
export const RATE_PERIOD = 'interestRateFrequencyType'
