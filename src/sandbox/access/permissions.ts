const READS =
  `BUSINESS_DATE CHARGE CLIENT CONFIGURATION CURRENCY LOAN LOANPRODUCT OFFICE PAYMENTTYPE
  PERMISSION ROLE USER`.split(/\s+/)

/** What may be made to wait for a second person. */
export const TASKS = `CREATE_CLIENT UPDATE_CLIENT ACTIVATE_CLIENT PROPOSETRANSFER_CLIENT
  ACCEPTTRANSFER_CLIENT CREATE_LOAN UPDATE_LOAN DELETE_LOAN APPROVE_LOAN APPROVALUNDO_LOAN
  REJECT_LOAN WITHDRAW_LOAN DISBURSE_LOAN DISBURSALUNDO_LOAN REPAYMENT_LOAN ADJUST_LOAN
  CHARGEBACK_LOAN WRITEOFF_LOAN UNDOWRITEOFF_LOAN CREATE_LOANPRODUCT CREATE_CHARGE CREATE_OFFICE
  CREATE_PAYMENTTYPE CREATE_ROLE PERMISSIONS_ROLE CREATE_USER`.split(/\s+/)

/** What the sandbox's calls want; a real ledger has some hundreds more. */
export const SINGLE_PERMISSIONS = [...READS.map(entity => `READ_${entity}`), ...TASKS]

export const PERMISSIONS = ['ALL_FUNCTIONS', 'ALL_FUNCTIONS_READ', ...SINGLE_PERMISSIONS]

export function permissionView(code: string) {
  const [actionName = '', ...entity] = code.split('_')
  const isSpecial = code.startsWith('ALL_FUNCTIONS')
  return {
    grouping: isSpecial ? 'special' : 'portfolio',
    code,
    ...(isSpecial ? {} : { entityName: entity.join('_'), actionName }),
  }
}
