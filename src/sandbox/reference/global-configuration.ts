/** A fresh Fineract's switches: number, name, whether it is on, and its value. */
const TABLE = `
  1 maker-checker off 0
  4 amazon-s3 off 0
  5 reschedule-future-repayments on 0
  6 reschedule-repayments-on-holidays off 0
  7 allow-transactions-on-holiday off 0
  8 allow-transactions-on-non-workingday off 0
  9 constraint-approach-for-datatables off 0
  10 penalty-wait-period on 2
  11 force-password-reset-days off 0
  12 grace-on-penalty-posting on 0
  15 savings-interest-posting-current-period-end off 0
  16 financial-year-beginning-month on 1
  17 min-clients-in-group off 5
  18 max-clients-in-group off 5
  19 meetings-mandatory-for-jlg-loans off 0
  20 office-specific-products-enabled off 0
  21 restrict-products-to-user-office off 0
  22 office-opening-balances-contra-account on 0
  23 rounding-mode on 6
  24 backdate-penalties-enabled on 0
  25 organisation-start-date off 0
  26 paymenttype-applicable-for-disbursement-charges off 0
  27 interest-charged-from-date-same-as-disbursal-date off 0
  28 skip-repayment-on-first-day-of-month off 14
  29 change-emi-if-repaymentdate-same-as-disbursementdate on 0
  30 daily-tpt-limit off 0
  31 enable-address off 0
  32 sub-rates off 0
  33 loan-reschedule-is-first-payday-allowed-on-holiday off 0
  35 account-mapping-for-payment-type on 0
  36 account-mapping-for-charge on 0
  37 fixed-deposit-transfer-interest-next-day-for-period-end-posting off 0
  38 allow-backdated-transaction-before-interest-posting on 0
  39 allow-backdated-transaction-before-interest-posting-date-for-days off 0
  40 custom-account-number-length off 0
  41 random-account-number off 0
  42 is-interest-to-be-recovered-first-when-greater-than-emi off 0
  43 is-principal-compounding-disabled-for-overdue-loans off 0
  44 enable-business-date off 0
  45 enable-automatic-cob-date-adjustment on 0
  46 enable-post-reversal-txns-for-reverse-transactions off 0
  47 purge-external-events-older-than-days off 30
  48 days-before-repayment-is-due off 1
  49 days-after-repayment-is-overdue off 1
  50 enable-auto-generated-external-id off 0
  51 purge-processed-commands-older-than-days off 30
  52 enable-cob-bulk-event off 0
  53 external-event-batch-size off 1000
  54 report-export-s3-folder-name on 0
  55 loan-arrears-delinquency-display-data on 0
  56 charge-accrual-date on 0
  57 asset-externalization-of-non-active-loans on 0
  58 enable-same-maker-checker off 0
  59 next-payment-due-date on 0
  60 enable-payment-hub-integration off 0
`

export type Configuration = {
  id: number
  name: string
  enabled: boolean
  value: number
  trapDoor: boolean
}

export const CONFIGURATIONS: Configuration[] = TABLE.trim()
  .split('\n')
  .map(line => {
    const [id, name = '', enabled, value] = line.trim().split(' ')
    const trapDoor = name === 'rounding-mode'
    return { id: Number(id), name, enabled: enabled === 'on', value: Number(value), trapDoor }
  })

export const BLOCKS_CLOSED: Configuration = {
  id: 70,
  name: 'block-transactions-on-closed-overpaid-loans',
  enabled: true,
  value: 0,
  trapDoor: false,
}
