const SCHEDULE = `dateFormat locale id clientId groupId loanType productId principal totalLoan
  isParentAccount loanTermFrequency loanTermFrequencyType numberOfRepayments repaymentEvery
  repaymentFrequencyType repaymentFrequencyNthDayType repaymentFrequencyDayOfWeekType
  interestRatePerPeriod amortizationType amortizationTypeOptions interestType isFloatingInterestRate
  interestRateDifferential interestCalculationPeriodType allowPartialPeriodInterestCalcualtion
  interestRateFrequencyType expectedDisbursementDate repaymentsStartingFromDate
  graceOnPrincipalPayment graceOnInterestPayment graceOnInterestCharged interestChargedFromDate
  submittedOnDate submittedOnNote accountNo externalId fundId loanOfficerId loanPurposeId
  inArrearsTolerance charges collateral transactionProcessingStrategyCode calendarId
  syncDisbursementWithMeeting linkAccountId disbursementData fixedEmiAmount maxOutstandingLoanBalance
  graceOnArrearsAgeing createStandingInstructionAtDisbursement isTopup loanIdToClose datatables
  isEqualAmortization rates applicationId lastApplication daysInYearType
  fixedPrincipalPercentagePerInstallment`.split(/\s+/)

/** Fineract also parses an update as a schedule, which allows fewer keys. */
export const UPDATE_KEYS = new Set(SCHEDULE)
export const CREATE_KEYS = new Set([
  ...SCHEDULE,
  'disallowExpectedDisbursements',
  'fraud',
  'loanScheduleProcessingType',
  'fixedLength',
  'enableInstallmentLevelDelinquency',
  'enableDownPayment',
])

/** These change the schedule in ways that no lender's product uses. */
export const NOT_SUPPORTED_KEYS = `groupId isFloatingInterestRate interestRateDifferential
  repaymentFrequencyNthDayType repaymentFrequencyDayOfWeekType disbursementData isTopup rates
  collateral enableDownPayment fixedLength`.split(/\s+/)
