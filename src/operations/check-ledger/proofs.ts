import type { Refusal } from '../../engine/refusal.ts'
import type { Answer } from '../../ledger/answers/answer.ts'
import type { Finding } from '../../ledger/check/finding.ts'

const IDEMPOTENCY = {
  check: 'idempotency',
  lender: null,
  expected: 'a repeat under the same key gets the stored answer, and external ids are kept',
}
const CONFLICT = 409

export const keysKept: Finding = {
  ...IDEMPOTENCY,
  state: 'ok',
  found: 'every repeat got the stored answer of its key, and external ids are kept',
  remedy: null,
}

export const externalIdLost: Finding = {
  ...IDEMPOTENCY,
  state: 'differs',
  found: 'the ledger does not find a repayment by the external id with which it was sent',
  remedy:
    'Upgrade the ledger: versions of early 2025 lose them. Until then, receipt numbers show whose repayment it is',
}

export const keyIgnored = (step: string, why: string): Finding => ({
  ...IDEMPOTENCY,
  state: 'differs',
  found: `a second try to ${step} with the same key did not return the stored answer: ${why}`,
  remedy:
    'Unset FINERACT_IDEMPOTENCY_KEY_HEADER_NAME at the ledger, or set it to Idempotency-Key, and let proxies pass this header',
})

export const storeHidden = (step: string): Finding => ({
  ...IDEMPOTENCY,
  state: 'differs',
  found: `a second try to ${step} with the same key returned the stored answer without the header x-served-from-cache`,
  remedy:
    'Let proxies pass this header of the ledger’s answers: without it, some outcomes stay unknown',
})

export function awaitsApproval(step: string, again: Answer | Refusal): Finding {
  const isConflict = again.status === CONFLICT
  return {
    check: 'maker_checker',
    lender: null,
    state: 'differs',
    found: `the request to ${step} waits for a second person at the ledger${isConflict ? ', which answers 409 to what waits already' : ''}`,
    expected: 'nothing that LoanOps does waits for a second person at the ledger',
    remedy:
      'Unless this is intended, switch maker-checker off for this task at the ledger; reject there what this check left waiting',
  }
}

export const refusedStep = (step: string, check: string, why: string): Finding => ({
  check,
  lender: null,
  state: 'breaks',
  found: `the ledger did not let us ${step}: ${why}`,
  expected: 'the ledger takes a client, a loan, its approval, disbursement and repayment',
  remedy:
    'Correct what the ledger names in its answer, or give LEDGER_USERNAME the missing permission',
})

export const readsLag = (step: string): Finding => ({
  ...IDEMPOTENCY,
  state: 'differs',
  found: `could not be tried: to ${step}, the ledger does not show yet what was written just before`,
  remedy:
    'Let LoanOps read where it writes: its reads come from a replica that lags, or from a cache, and operations wait for it',
})

export const notTried = (why: string): Finding => ({
  ...IDEMPOTENCY,
  state: 'unknown',
  found: `could not be tried: ${why}`,
  remedy: 'Correct this first',
})
