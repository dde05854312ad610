import type { Lender } from '../../config/lenders.ts'
import { attemptOutside } from '../../engine/attempt/attempt-outside.ts'
import type { Attempt, Data } from '../../engine/operation.ts'
import { failureMessage, type Refusal } from '../../engine/refusal.ts'
import { newId } from '../../ids.ts'
import {
  type Answer,
  isDown,
  LedgerTrouble,
  NOT_FOUND,
  TOO_EARLY,
} from '../../ledger/answers/answer.ts'
import { type Ledger, openLedger } from '../../ledger/calls/client.ts'
import type { LedgerSettings } from '../../ledger/calls/send.ts'
import type { Finding } from '../../ledger/check/finding.ts'
import { findLoan, findTransaction } from '../../ledger/loans/loan-calls.ts'
import { postRepayment } from '../../ledger/loans/repayment.ts'
import { openReference } from '../../ledger/reference/reference.ts'
import { operationCatalogue } from '../catalogue.ts'
import { cleanUp } from './clean-up.ts'
import { throwAwayData } from './throw-away.ts'

type Settings = LedgerSettings & Parameters<typeof openReference>[1]
type Tried = {
  findings: Finding[]
  /** The records that the ledger keeps of the test. */
  left: string[]
}
type Outcome = Answer | Refusal
type Step = {
  name: string
  check: string
  /** The operation's only call is the write, so that its repeat shows what the ledger makes of the key. */
  isRepeated?: true
  write(attempt: Attempt): Promise<Outcome>
}

/**
 * Writes a throw-away client and loan as the service does, and removes what the ledger lets it remove.
 * @param earlier names of loans that are removed too
 */
export async function tryWrites(
  settings: Settings,
  lender: Lender,
  name: string,
  earlier: string[] = [],
): Promise<Tried> {
  const ledger = openLedger(settings)
  try {
    const findings = await writeEach(ledger, settings, lender, name).catch(error => {
      if (error instanceof LedgerTrouble) return [notTried(error.message)]
      throw error
    })
    const left: string[] = []
    for (const one of [...earlier, name]) left.push(...(await cleanUp(ledger, one)))
    return { findings, left }
  } finally {
    await ledger.close()
  }
}

/** Stops at the first write that does not do what it should. */
async function writeEach(ledger: Ledger, settings: Settings, lender: Lender, name: string) {
  const reference = openReference(ledger, settings)
  const data = await throwAwayData(reference, lender, name)
  const catalogue = operationCatalogue(new Map([[lender.code, lender]]))
  const run = (operation: string, of: Data) => (attempt: Attempt) =>
    catalogue.get(operation)?.run(attempt, of) as Promise<Outcome>
  const steps: Step[] = [
    {
      name: 'create a client',
      check: 'office',
      isRepeated: true,
      write: run('CLIENT_CREATE', data.client),
    },
    { name: 'create a loan', check: 'product', write: run('LOAN_CREATE', data.loan) },
    { name: 'approve it', check: 'product', write: run('LOAN_APPROVE', data.approval) },
    { name: 'disburse it', check: 'product', write: run('LOAN_DISBURSE', data.disbursal) },
    {
      name: 'post a repayment',
      check: 'payment_type',
      isRepeated: true,
      write: async attempt =>
        postRepayment(attempt, await reference.paymentTypeId(), data.repayment),
    },
  ]
  const attemptOf = () => attemptWith(ledger, reference)
  for (const { name: step, check, isRepeated, write } of steps) {
    const attempt = attemptOf()
    const answer = await write(attempt)
    if (answer.outcome === 'awaits_approval')
      return [awaitsApproval(step, await write(attemptOf()))]
    if (answer.status === NOT_FOUND && answer.method === 'GET') return [readsLag(step)]
    if (isDown(answer)) return [notTried(reasonOf(answer))]
    if (answer.outcome !== 'done') return [refusedStep(step, check, reasonOf(answer))]
    if (!isRepeated) continue
    const again = await write(attempt)
    if (isDown(again)) return [notTried(reasonOf(again))]
    const isKnown = again.status === TOO_EARLY || ('isFromStore' in again && again.isFromStore)
    if (!isKnown && resourceIn(again) === resourceIn(answer)) return [storeHidden(step)]
    if (!isKnown) return [keyIgnored(step, reasonOf(again))]
  }
  return [await proofOfIds(ledger, name)]
}

/** The list is read first: what lags shows more in a later read. */
async function proofOfIds(ledger: Ledger, name: string): Promise<Finding> {
  const { transactions = [] } = (await findLoan(ledger, name, 'transactions')) ?? {}
  if (!transactions.some(one => one.type?.repayment)) return readsLag('find the repayment')
  return (await findTransaction(ledger, name, name)) === undefined ? externalIdLost : keysKept
}

const resourceIn = ({ body }: Outcome) => (body as { resourceId?: unknown } | null)?.resourceId

const reasonOf = (answer: Outcome) =>
  'message' in answer ? answer.message : failureMessage(answer)

/** Nobody else writes on what has just been made, so nothing needs to be remembered. */
function attemptWith(ledger: Ledger, reference: Attempt['reference']): Attempt {
  const own = { id: newId(), key: newId(), origin: 'api', takesEqualAsDone: false } as const
  return attemptOutside({ ...own, ledger, reference })
}

/** @returns what the repeats showed of the ledger's idempotency keys */
const ofKeys = (state: Finding['state'], found: string, remedy: string | null): Finding => ({
  check: 'idempotency',
  lender: null,
  expected: 'a repeat under the same key gets the stored answer, and external ids are kept',
  state,
  found,
  remedy,
})

const keysKept = ofKeys(
  'ok',
  'every repeat got the stored answer of its key, and external ids are kept',
  null,
)

const externalIdLost = ofKeys(
  'differs',
  'the ledger does not find a repayment by the external id with which it was sent',
  'Upgrade the ledger: versions of early 2025 lose them. Until then, receipt numbers show whose repayment it is',
)

const keyIgnored = (step: string, why: string) =>
  ofKeys(
    'differs',
    `a second try to ${step} with the same key did not return the stored answer: ${why}`,
    'Unset FINERACT_IDEMPOTENCY_KEY_HEADER_NAME at the ledger, or set it to Idempotency-Key, and let proxies pass this header',
  )

const storeHidden = (step: string) =>
  ofKeys(
    'differs',
    `a second try to ${step} with the same key returned the stored answer without the header x-served-from-cache`,
    'Let proxies pass this header of the ledger’s answers: without it, some outcomes stay unknown',
  )

const readsLag = (step: string) =>
  ofKeys(
    'differs',
    `could not be tried: to ${step}, the ledger does not show yet what was written just before`,
    'Let LoanOps read where it writes: its reads come from a replica that lags, or from a cache, and operations wait for it',
  )

const notTried = (why: string) =>
  ofKeys('unknown', `could not be tried: ${why}`, 'Correct this first')

const CONFLICT = 409

function awaitsApproval(step: string, again: Outcome): Finding {
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

const refusedStep = (step: string, check: string, why: string): Finding => ({
  check,
  lender: null,
  state: 'breaks',
  found: `the ledger did not let us ${step}: ${why}`,
  expected: 'the ledger takes a client, a loan, its approval, disbursement and repayment',
  remedy:
    'Correct what the ledger names in its answer, or give LEDGER_USERNAME the missing permission',
})
