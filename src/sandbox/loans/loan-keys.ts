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

/** An update is also read as a schedule, whose list is shorter. */
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

/** These change a schedule in ways that no lender's product uses. */
export const NOT_PLAYED_KEYS = `groupId isFloatingInterestRate interestRateDifferential
  repaymentFrequencyNthDayType repaymentFrequencyDayOfWeekType repaymentsStartingFromDate
  graceOnPrincipalPayment graceOnInterestPayment graceOnInterestCharged interestChargedFromDate
  disbursementData fixedEmiAmount isTopup isEqualAmortization rates collateral
  fixedPrincipalPercentagePerInstallment enableDownPayment fixedLength`.split(/\s+/)
