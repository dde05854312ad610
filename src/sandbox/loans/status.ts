export const SUBMITTED = 100
export const APPROVED = 200
export const ACTIVE = 300
export const TRANSFER_IN_PROGRESS = 303
export const WITHDRAWN = 400
export const REJECTED = 500
export const CLOSED = 600
export const WRITTEN_OFF = 601
export const OVERPAID = 700

const words: Record<number, [code: string, value: string]> = {
  [SUBMITTED]: ['submitted.and.pending.approval', 'Submitted and pending approval'],
  [APPROVED]: ['approved', 'Approved'],
  [ACTIVE]: ['active', 'Active'],
  [TRANSFER_IN_PROGRESS]: ['transfer.in.progress', 'Transfer in progress'],
  [WITHDRAWN]: ['withdrawn.by.client', 'Withdrawn by applicant'],
  [REJECTED]: ['rejected', 'Rejected'],
  [CLOSED]: ['closed.obligations.met', 'Closed (obligations met)'],
  [WRITTEN_OFF]: ['closed.written.off', 'Closed (written off)'],
  [OVERPAID]: ['overpaid', 'Overpaid'],
}

export function statusView(id: number) {
  const [code, value] = words[id] ?? ['invalid', 'Invalid']
  return {
    id,
    code: `loanStatusType.${code}`,
    value,
    pendingApproval: id === SUBMITTED,
    waitingForDisbursal: id === APPROVED,
    active: id === ACTIVE,
    closedObligationsMet: id === CLOSED,
    closedWrittenOff: id === WRITTEN_OFF,
    closedRescheduled: false,
    closed: id === CLOSED || id === WRITTEN_OFF,
    overpaid: id === OVERPAID,
  }
}

export function isDisbursed(status: number): boolean {
  return [ACTIVE, TRANSFER_IN_PROGRESS, CLOSED, WRITTEN_OFF, OVERPAID].includes(status)
}

export function isRepayable(status: number): boolean {
  return [ACTIVE, CLOSED, OVERPAID].includes(status)
}
